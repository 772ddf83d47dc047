import type { CacheKey, Stored } from '../../rules/stored.ts';
import type { CacheStore, Content } from '../cache-store.ts';

export interface StoreUnderTest {
  readonly name: string;
  /** True if the store consists of several stores with a limit of `maxBytes` each. */
  readonly each?: boolean;
  /** Opens an empty store. */
  open(maxBytes: number): Promise<CacheStore>;
}

export const KEY: CacheKey = { target: '/a?b=c', whose: '', content: '' };

let ids = 0;

/** An answer with an id of its own. */
export const someAnswer = (changes: Partial<Stored> = {}): Stored => ({
  ...KEY,
  id: `answer-${(ids += 1)}`,
  status: 200,
  lines: [
    ['Content-Type', 'text/plain'],
    ['ETag', '"ä"'],
  ],
  vary: [],
  requested: 1000,
  received: 2000,
  length: undefined,
  tags: [],
  outdated: false,
  ...changes,
});

/** Stores an answer, and returns it as it was stored. */
export async function keep(
  store: CacheStore,
  stored: Stored,
  content = `content of ${stored.id}`,
  replaces: readonly string[] = [],
): Promise<Stored | undefined> {
  const writing = store.begin(stored);
  await writing?.append(Buffer.from(content));
  const kept = await writing?.commit(replaces);
  writing?.close();
  return kept;
}

export async function idsOf(store: CacheStore, key: CacheKey = KEY): Promise<readonly string[]> {
  return (await store.find(key)).map(({ id }) => id);
}

/** Reads the content from a position on, a few octets at a time. */
export async function textOf(content: Content, position = 0, most = 7): Promise<string> {
  const pieces: Buffer[] = [];
  for (let at = position; ;) {
    const piece = await content.read(at, most);
    if (piece.length === 0) return Buffer.concat(pieces).toString();
    pieces.push(piece);
    at += piece.length;
  }
}

/** Returns the content of a stored answer. Undefined: the answer was removed. */
export async function contentOf(store: CacheStore, stored: Stored): Promise<string | undefined> {
  const content = await store.content(stored);
  if (content === undefined) return undefined;
  try {
    return await textOf(content);
  } finally {
    content.close();
  }
}
