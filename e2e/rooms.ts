/**
 * `npm run check`: the order of the rooms. A file imports (types included) only from its own room and from
 * rooms below; the same holds for folders inside a room with an order (inside-rooms.ts). No files import
 * one another in a circle.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arrowsUpInside, INSIDE } from './inside-rooms.ts';
import { type Imports, importsOf, isTest } from './imports.ts';

/** Floors from the bottom up. Rooms of one floor do not import each other. */
const ROOMS: readonly (readonly string[])[] = [
  // Real programs, such as Redis, which tests of every room may start.
  ['shared/base', 'e2e/parts'],
  ['shared/refusals'],
  ['shared/http'],
  ['shared/pages'],
  ['shared/client'],
  ['shared/jose'],
  ['shared/signatures'],
  ['shared/private-token'],
  ['shared/stores'],
  ['shared/gnap'],
  ['shared/audit'],
  ['shared/keys'],
  ['shared/people'],
  ['shared/auth'],
  ['shared/guard', 'shared/config'],
  ['shared/explain'],
  ['shared/server'],
  ['shared/mail'],
  ['shared/client-documents'],
  ['shared/operations'],
  ['authz-server', 'resource-server', 'shared/cli', 'shared/start'],
  ['e2e'],
];

/** The innermost room of a path. */
const roomOf = (path: string) =>
  ROOMS.flat()
    .filter((room) => path.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0];
const floorOf = (room: string) => ROOMS.findIndex((rooms) => rooms.includes(room));

/**
 * Imports from a room above, or beside on the same floor; imports of a test by shipped code; files in no
 * room.
 */
export function arrowsUp(imports: Imports): string[] {
  return [...imports].flatMap(([path, targets]) => {
    const own = roomOf(path);
    if (own === undefined) return `${path} stands in no room`;
    return targets
      .filter((target) => {
        // Data beside the rooms.
        if (target === 'package.json') return false;
        if (isTest(target) && !isTest(path)) return true;
        const room = roomOf(target);
        return room !== own && (room === undefined || floorOf(room) >= floorOf(own));
      })
      .map((target) => `${path} -> ${target}`);
  });
}

/** For each circle, the path from one of its files back to it. */
export function circles(imports: Imports): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (path: string) => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' -> '));
    if (way.includes(path) || done.has(path)) return;
    way.push(path);
    for (const target of imports.get(path) ?? []) walk(target);
    way.pop();
    done.add(path);
  };
  for (const path of imports.keys()) walk(path);
  return found;
}

if (import.meta.main) {
  const paths = execFileSync('git', ['ls-files', '*.ts', '*.js'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const imports = importsOf(
    Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')])),
  );
  const mistakes = [...arrowsUp(imports), ...arrowsUpInside(imports, INSIDE), ...circles(imports)];
  if (mistakes.length > 0) {
    process.stderr.write(
      `Imports that go up or in a circle (e2e/rooms.ts, e2e/inside-rooms.ts):\n${mistakes.join('\n')}\n`,
    );
    process.exitCode = 1;
  }
}
