import type { Pieces } from './pieces.ts';

/** Makes pieces from any source, and records whether they were disposed of. */
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

/** Reads the content as a sender would, and returns it as text. */
export async function textOf(content: Pieces): Promise<string> {
  let text = '';
  for await (const piece of content.each(Infinity)) text += piece.toString();
  return text;
}
