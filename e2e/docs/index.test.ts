import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { withTour } from '#shared/config/tour.ts';
import { declaredFile } from '#shared/cli/declared/file-schema.ts';
import { COMMANDS } from '#shared/cli/commands.ts';
import { parseInput } from '#shared/cli/arguments/parse.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'README.md', 'docs'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => path.endsWith('.md'));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('docs/README.md', () => {
  test('links to every page of docs/', () => {
    const links = [...read('docs/README.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) =>
      normalize(join(dirname('docs/README.md'), path)),
    );
    const linked = new Set(['README.md', 'docs/README.md', ...links]);
    expect(PAGES.filter((page) => !linked.has(page))).toEqual([]);
  });
});

test('docs/how-to/test-your-client.md names the space of every scheme', () => {
  const [, row = ''] =
    /^\| one scheme \|(.*)\|$/m.exec(read('docs/how-to/test-your-client.md')) ?? [];
  const named = [...row.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  const { spaces } = withTour(configSchema.parse({}));
  const there = spaces.flatMap(({ url }) => /\/schemes\/([\w-]+)\/$/.exec(url)?.[1] ?? []);
  expect(new Set([...named, 'all'])).toEqual(new Set(there));
});

describe('how-to guides and tutorials', () => {
  const guides = PAGES.filter((page) => /^docs\/(how-to|tutorials)\//.test(page));

  test.each(guides)('%s has at most 120 lines and 6 KB, and one title', (page) => {
    const text = read(page);
    expect(text.split('\n').length).toBeLessThanOrEqual(121);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6144);
    expect(text.match(/^# .+/m)?.index).toBe(0);
  });
});

describe('configurations in how-to guides', () => {
  const blocks = PAGES.filter((page) => page.startsWith('docs/how-to/')).flatMap((page) =>
    [...read(page).matchAll(/^```json ?([^\n]*)\n(.*?)^```$/gms)].map(
      ([, name = '', json = '']): [string, string, string] => [page, name, json],
    ),
  );

  /** The mistakes in a whole configuration, or in the settings of a space. */
  function mistakes(name: string, json: string): readonly unknown[] {
    const members = JSON.parse(json) as Record<string, unknown>;
    // A file for `apply` is no configuration.
    if (name === 'declare') return declaredFile.safeParse(members).error?.issues ?? [];
    const whole = Object.keys(members).every((member) => member in configSchema.shape);
    const space = { url: 'https://api.example/', realm: 'a', schemes: ['Basic'], ...members };
    return configSchema.safeParse(whole ? members : { spaces: [space] }).error?.issues ?? [];
  }

  test('are many, and the schema accepts each of them', () => {
    expect(blocks.length).toBeGreaterThan(15);
    for (const [page, name, json] of blocks)
      expect([page, json, mistakes(name, json)]).toEqual([page, json, []]);
  });
});

describe('commands that the documentation names', () => {
  /** [page, words of the command], from code blocks and from the text. */
  const named = PAGES.filter((page) => page !== 'docs/reference/commands.md').flatMap((page) =>
    // The service of a compose file may have the name of the command.
    [
      ...read(page).matchAll(
        /(?:npm run -s cli --|\bcountersign(?: countersign)?) ((?:[a-z][a-z-]* ?)+)/g,
      ),
    ].map(([, words = '']): [string, string] => [page, words.trim()]),
  );
  const known = (words: string) =>
    /^start(?: (?:authz|resource))?$/.test(words) ||
    COMMANDS.some(({ name }) => `${words} `.startsWith(`${name} `) || name.startsWith(`${words} `));

  test('are many, and each command exists', () => {
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(([, words]) => !known(words))).toEqual([]);
  });

  test('have existing options', () => {
    const lines = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^(?:[A-Z_]+=\S+ )*npm run -s cli -- ([a-z].*(?:\\\n.*)*)$/gm)].map(
        ([, line = '']): [string, string] => [page, line.replaceAll('\\\n', ' ')],
      ),
    );
    expect(lines.length).toBeGreaterThan(20);
    for (const [page, line] of lines) {
      const words = line.split(/ (?=(?:[^'"]|'[^']*'|"[^"]*")*$)/).filter(Boolean);
      const pipe = words.findIndex((word) => /^[|>&<]/.test(word));
      const args = pipe < 0 ? words : words.slice(0, pipe);
      const command = COMMANDS.find(({ name }) => `${line} `.startsWith(`${name} `));
      if (command === undefined) throw new Error(`${page}: ${line}`);
      const given = args.slice(command.name.split(' ').length);
      expect(() => [page, line, parseInput(command, given)]).not.toThrow();
    }
  });
});
