// Bodies of so many copies that workgroups sum up what they do to them.

// Copies from which a body is a hub. A grain among others of half its size at least hardly ever is: no more than
// 36 of them find place around it (more with a wide margin), and 8 have a colour.
const HUB = 32u;

// Whether the scene may have hubs: bodies with surfaces, or grains of very different size.
override HAS_HUBS: bool = true;
