// Draws a frame with WebGL2: grains as spheres on quads that face the eye, with exact silhouettes and depth, or as polyhedra; boundaries
// as glass with edges; forces as lines as wide as the force. Results show without WebGPU.

import { STEPS, texels } from "esker/colours.js";

const BALL_VERTEX = `#version 300 es
uniform mat4 view, projection;
uniform vec2 range;
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 centre;
layout(location = 2) in float radius;
layout(location = 3) in float value;
out vec3 at;
flat out vec3 middle;
flat out float size, share;
void main() {
    middle = (view * vec4(centre, 1.0)).xyz;
    size = radius;
    share = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
    // Seen from near, a ball reaches beyond its radius: the quad stands before it, and is so much wider.
    float distance = length(middle);
    vec3 ahead = middle / distance;
    vec3 right = normalize(cross(ahead, vec3(0.0, 1.0, 0.0)));
    vec3 up = cross(right, ahead);
    float wide = 1.06 * radius * sqrt(max(distance - radius, radius) / (distance + radius)) ;
    at = middle - ahead * radius + (corner.x * right + corner.y * up) * wide;
    gl_Position = projection * vec4(at, 1.0);
}`;

// Colour of a grain where its surface has this normal, seen along a ray.
const LIT = `
uniform sampler2D colours;
uniform float faint;
vec3 lit(float share, vec3 normal, vec3 ray) {
    float light = max(dot(normal, normalize(vec3(-0.37, 0.60, 0.71))), 0.0);
    float sky = 0.5 + 0.5 * normal.y;
    float gleam = pow(max(dot(reflect(ray, normal), normalize(vec3(-0.37, 0.60, 0.71))), 0.0), 40.0);
    float edge = 0.75 + 0.25 * max(dot(normal, -ray), 0.0);
    vec3 own = mix(texture(colours, vec2(share, 0.5)).rgb, vec3(0.87, 0.88, 0.89), faint);
    vec3 shown = own * (0.50 + 0.22 * sky + 0.42 * light) * edge + 0.12 * gleam * (1.0 - faint);
    return mix(shown, vec3(0.96), 0.55 * faint);
}`;

const BALL_FRAGMENT = `#version 300 es
precision highp float;
uniform mat4 projection;
in vec3 at;
flat in vec3 middle;
flat in float size, share;
out vec4 colour;
${LIT}
void main() {
    vec3 ray = normalize(at);
    float along = dot(ray, middle);
    vec3 foot = along * ray - middle;
    float aside = dot(foot, foot) / (size * size);
    // Share of the pixel that the ball covers: the edge of a ball is as soft as a pixel is wide.
    float rim = sqrt(aside);
    float cover = clamp((1.0 - rim) / max(fwidth(rim), 1e-6) + 0.5, 0.0, 1.0);
    if (cover <= 0.0) discard;
    vec3 place = (along - size * sqrt(max(1.0 - aside, 0.0))) * ray;
    vec3 normal = normalize(place - middle);
    vec4 clip = projection * vec4(place, 1.0);
    gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
    colour = vec4(lit(share, normal, ray), cover);
}`;

const HULL_VERTEX = `#version 300 es
uniform mat4 view, projection;
uniform vec2 range;
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 centre;
layout(location = 2) in float radius;
layout(location = 3) in float value;
layout(location = 4) in vec4 turn;
out vec3 at;
flat out float share;
void main() {
    vec3 across = 2.0 * cross(turn.xyz, corner);
    vec3 place = centre + radius * (corner + turn.w * across + cross(turn.xyz, across));
    at = (view * vec4(place, 1.0)).xyz;
    share = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
    gl_Position = projection * vec4(at, 1.0);
}`;

const HULL_FRAGMENT = `#version 300 es
precision highp float;
in vec3 at;
flat in float share;
out vec4 colour;
${LIT}
void main() {
    vec3 ray = normalize(at), normal = normalize(cross(dFdx(at), dFdy(at)));
    colour = vec4(lit(share, dot(normal, ray) > 0.0 ? -normal : normal, ray), 1.0);
}`;

const WALL_VERTEX = `#version 300 es
uniform mat4 view, projection;
layout(location = 0) in vec3 place;
out vec3 at;
void main() {
    at = (view * vec4(place, 1.0)).xyz;
    gl_Position = projection * vec4(at, 1.0);
}`;

const WALL_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 tint;
uniform float glass;
in vec3 at;
out vec4 colour;
void main() {
    vec3 normal = normalize(cross(dFdx(at), dFdy(at)));
    // Glass takes more light where it is looked at edge on. An edge has no normal.
    float slant = 1.0 - abs(dot(normal, normalize(at)));
    float opacity = glass > 0.5 ? tint.a * (0.55 + 2.2 * slant * slant) : tint.a;
    colour = vec4(tint.rgb * opacity, opacity);
}`;

const FORCE_VERTEX = `#version 300 es
uniform mat4 view, projection;
uniform float widest, largest;
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 from;
layout(location = 2) in vec3 to;
layout(location = 3) in float size;
flat out float share;
void main() {
    vec3 a = (view * vec4(from, 1.0)).xyz, b = (view * vec4(to, 1.0)).xyz;
    vec3 place = mix(a, b, 0.5 + 0.5 * corner.x);
    vec3 aside = cross(b - a, place);
    aside = length(aside) > 0.0 ? normalize(aside) : vec3(1.0, 0.0, 0.0);
    share = clamp(size / max(largest, 1e-30), 0.0, 1.0);
    gl_Position = projection * vec4(place + corner.y * widest * max(share, 0.02) * aside, 1.0);
}`;

const FORCE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colours;
flat in float share;
out vec4 colour;
void main() { colour = vec4(texture(colours, vec2(share, 0.5)).rgb, 1.0); }`;

const QUAD = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);

// A program with the places of its uniforms.
function program(gl, vertex, fragment) {
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(`shader: ${gl.getProgramInfoLog(made)}`);
    const count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
    const names = Array.from({ length: count }, (_, i) => gl.getActiveUniform(made, i).name);
    return { made, at: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(made, name)])) };
}

// Buffers that feed attributes: [size, is per instance] each.
function layout(gl, attributes) {
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const buffers = attributes.map(([size, perInstance], place) => {
        const buffer = gl.createBuffer();
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
        gl.vertexAttribDivisor(place, perInstance ? 1 : 0);
        return buffer;
    });
    const fill = (place, data) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[place]);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    };
    return { array, fill, buffers };
}

export class Spheres {
    constructor(canvas) {
        const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
        if (!gl) throw new Error("this browser has no WebGL 2, which draws the scene");
        this.gl = gl;
        this.canvas = canvas;
        this.ball = program(gl, BALL_VERTEX, BALL_FRAGMENT);
        this.hull = program(gl, HULL_VERTEX, HULL_FRAGMENT);
        this.wall = program(gl, WALL_VERTEX, WALL_FRAGMENT);
        this.force = program(gl, FORCE_VERTEX, FORCE_FRAGMENT);
        this.balls = layout(gl, [[2, false], [3, true], [1, true], [1, true]]);
        this.balls.fill(0, QUAD);
        this.hulls = [];
        this.lines = layout(gl, [[2, false], [3, true], [3, true], [1, true]]);
        this.lines.fill(0, QUAD);
        this.walls = layout(gl, [[3, false]]);
        this.edges = layout(gl, [[3, false]]);
        this.counts = { balls: 0, walls: 0, edges: 0, forces: 0 };
        this.meanRadius = 0;
        this.makeColours();
    }

    makeColours() {
        const { gl } = this;
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, STEPS, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels());
        for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
        for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
    }

    // Takes a frame; boundaries that are as before stay.
    setFrame(frame) {
        this.balls.fill(1, frame.centres);
        this.balls.fill(2, this.setPolyhedra(frame));
        this.counts.balls = frame.count;
        this.meanRadius = frame.radii.reduce((sum, radius) => sum + radius, 0) / Math.max(frame.count, 1);
        if (frame.walls) {
            this.walls.fill(0, frame.walls.triangles);
            this.edges.fill(0, frame.walls.edges);
            this.counts.walls = frame.walls.triangles.length / 3;
            this.counts.edges = frame.walls.edges.length / 3;
        }
        this.setForces(frame.forces);
    }

    // Takes the polyhedra of a frame. Returns the radii of the spheres: none where there is a polyhedron.
    setPolyhedra({ shapes, centres, radii }) {
        const { gl } = this;
        while (this.hulls.length < shapes.length) {
            this.hulls.push({ layout: layout(gl, [[3, false], [3, true], [1, true], [1, true], [4, true]]) });
        }
        const ofSpheres = radii.slice();
        this.hulls.forEach((hull, i) => {
            hull.shape = shapes[i] ?? { corners: [], grains: [], turns: [] };
            const { corners, grains, turns } = hull.shape;
            hull.layout.fill(0, Float32Array.from(corners));
            hull.layout.fill(1, Float32Array.from(grains.flatMap((grain) => [...centres.subarray(3 * grain, 3 * grain + 3)])));
            hull.layout.fill(2, Float32Array.from(grains, (grain) => radii[grain]));
            hull.layout.fill(4, Float32Array.from(turns));
            grains.forEach((grain) => { ofSpheres[grain] = 0; });
        });
        return ofSpheres;
    }

    setForces({ ends, sizes }) {
        const half = (first) => Float32Array.from({ length: 3 * sizes.length }, (_, i) => ends[6 * Math.floor(i / 3) + first + (i % 3)]);
        this.lines.fill(1, half(0));
        this.lines.fill(2, half(3));
        this.lines.fill(3, sizes);
        this.counts.forces = sizes.length;
    }

    setValues(values) {
        this.balls.fill(3, values);
        this.hulls.forEach(({ layout, shape }) => layout.fill(3, Float32Array.from(shape.grains, (grain) => values[grain])));
    }

    // Draws what was given last, from a camera; colours go over `range`.
    draw(camera, { range, showForces, showWalls }) {
        const { gl, canvas } = this;
        const scale = window.devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((size) => Math.max(Math.round(size * scale), 1));
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        gl.viewport(0, 0, width, height);
        gl.clearColor(0.988, 0.988, 0.98, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.enable(gl.DEPTH_TEST);
        const matrices = camera.matrices(width / height);
        this.drawGrains(matrices, range, showForces);
        if (showForces) this.drawForces(matrices, range);
        if (showWalls) this.drawWalls(matrices);
    }

    use({ made, at }, { view, projection }) {
        this.gl.useProgram(made);
        if (at.view) this.gl.uniformMatrix4fv(at.view, false, view);
        if (at.projection) this.gl.uniformMatrix4fv(at.projection, false, projection);
    }

    drawGrains(matrices, range, areFaint) {
        const { gl, ball, hull } = this;
        this.use(ball, matrices);
        gl.uniform2fv(ball.at.range, range);
        gl.uniform1f(ball.at.faint, areFaint ? 0.92 : 0);
        gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
        gl.bindVertexArray(this.balls.array);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.counts.balls);
        gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
        this.use(hull, matrices);
        gl.uniform2fv(hull.at.range, range);
        gl.uniform1f(hull.at.faint, areFaint ? 0.92 : 0);
        for (const { layout, shape } of this.hulls) {
            gl.bindVertexArray(layout.array);
            gl.drawArraysInstanced(gl.TRIANGLES, 0, shape.corners.length / 3, shape.grains.length);
        }
    }

    drawForces(matrices, [, largest]) {
        const { gl, force } = this;
        this.use(force, matrices);
        gl.uniform1f(force.at.widest, 0.45 * this.meanRadius);
        gl.uniform1f(force.at.largest, largest);
        // Over the grains, and before one another.
        gl.clear(gl.DEPTH_BUFFER_BIT);
        gl.bindVertexArray(this.lines.array);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.counts.forces);
    }

    drawWalls(matrices) {
        const { gl, wall } = this;
        this.use(wall, matrices);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.depthMask(false);
        gl.uniform1f(wall.at.glass, 1);
        gl.uniform4f(wall.at.tint, 0.45, 0.53, 0.62, 0.13);
        gl.bindVertexArray(this.walls.array);
        gl.drawArrays(gl.TRIANGLES, 0, this.counts.walls);
        gl.uniform1f(wall.at.glass, 0);
        gl.uniform4f(wall.at.tint, 0.25, 0.29, 0.35, 0.55);
        gl.bindVertexArray(this.edges.array);
        gl.drawArrays(gl.LINES, 0, this.counts.edges);
        gl.depthMask(true);
        gl.disable(gl.BLEND);
    }
}
