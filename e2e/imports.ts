import { dirname, join } from 'node:path/posix';

/** The source files that each file imports, as paths from the top. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Whether a file is not part of the shipped product. */
export const isTest = (path: string) =>
  /^e2e\/|\/contract\/|(?:[.-]test|\.fixture)\.ts$/.test(path);

/** Matches the quoted name after `from`, `import` and `import(`. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;

/** `sources`: text by path. */
export function importsOf(sources: Readonly<Record<string, string>>): Imports {
  return new Map(
    Object.entries(sources).map(([path, text]) => [
      path,
      [...text.matchAll(IMPORT)].flatMap(([, specifier = '']) => {
        if (specifier.startsWith('#shared/')) return specifier.replace('#', '');
        return specifier.startsWith('.') ? join(dirname(path), specifier) : [];
      }),
    ]),
  );
}
