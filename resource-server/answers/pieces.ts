import type { Answer } from '#shared/http/answer.ts';

/**
 * Content that is read piece by piece. A piece is the reader's until it asks for the next one: then its
 * octets may become others. Who is given content reads it once at most, and disposes of it.
 */
export interface Pieces extends AsyncDisposable {
  /** No piece is longer than `most` octets. */
  each(most: number): AsyncIterable<Buffer>;
}

/** What is sent in the answers of resources. */
export type Body = string | Uint8Array | Pieces;

export type ResourceAnswer = Answer<Body>;

export function inPieces(body: Body | undefined): body is Pieces {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

/** Pieces of what is in memory. `release`: they are not needed any more. */
export function piecesOf(content: Buffer, release: () => void): Pieces {
  let held = true;
  return {
    async *each(most) {
      for (let at = 0; at < content.length; at += most) yield content.subarray(at, at + most);
    },
    async [Symbol.asyncDispose]() {
      if (held) release();
      held = false;
    },
  };
}

/** All of it, in memory. */
export async function wholeOf(content: Buffer | Pieces): Promise<Buffer> {
  if (!inPieces(content)) return content;
  await using held = content;
  const copies: Buffer[] = [];
  for await (const piece of held.each(Infinity)) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}
