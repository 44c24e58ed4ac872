// Hubs: bodies of many copies, the changes of whose velocities each workgroup sums before they are stored.

// Number of copies above which a body is a hub. A grain among others of at least half its size is hardly ever a hub: no more than
// 36 of them find place around it (more with a wide margin), and 8 of these contacts have a colour.
const HUB = 32u;

// Whether the scene may have hubs: bodies with surfaces, or grains of very different size.
override HAS_HUBS: bool = true;
