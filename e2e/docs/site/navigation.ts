import { dirname, join } from 'node:path/posix';

interface Entry {
  readonly name: string;
  readonly path: string;
}

/** A part of the navigation; `groups` have the links, and a title where the section has several groups. */
export interface NavigationSection {
  readonly title: string;
  readonly groups: readonly { readonly title?: string; readonly entries: readonly Entry[] }[];
}

const INDEX = 'docs/README.md';
const LINK = /\[([^\]]+)\]\(([^)#]+)\)/g;

/** Reads the navigation from `docs/README.md`: its sections, and in them the rows of tables and the lists. */
export function navigationOf(index: string): readonly NavigationSection[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const groups = lines.flatMap((line) => {
        const entries = entriesOf(line);
        const name = /^\| ([^[|]+) \||^- (\w[^[:]*):/.exec(line);
        const named = name?.[1] ?? name?.[2];
        return entries.length === 0 ? [] : [{ entries, ...(named && { title: capital(named) }) }];
      });
      const single = groups.every((group) => group.title === undefined);
      return {
        title,
        groups: single ? [{ entries: groups.flatMap(({ entries }) => entries) }] : groups,
      };
    });
}

const entriesOf = (line: string): readonly Entry[] =>
  [...line.matchAll(LINK)].map(([, name = '', target = '']) => ({
    name: capital(name),
    path: join(dirname(INDEX), target),
  }));

const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;
