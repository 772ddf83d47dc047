import type { Pieces } from './pieces.ts';

/** Pieces of any source, and whether they were disposed of. */
export function piecesFrom(
  source: () => AsyncIterable<Buffer> | Iterable<Buffer>,
): Pieces & { readonly closed: () => boolean } {
  let closed = false;
  return {
    closed: () => closed,
    async *each() {
      yield* source();
    },
    async [Symbol.asyncDispose]() {
      closed = true;
    },
  };
}

/** The content as text, as who sends it would read it. */
export async function textOf(content: Pieces): Promise<string> {
  let text = '';
  for await (const piece of content.each(Infinity)) text += piece.toString();
  return text;
}
