import type { Ending } from '../forwarding/sink.ts';
import type { Pieces } from '../answers/pieces.ts';
import type { Source } from './answer.ts';
import { pieceSize } from './piece-size.ts';
import type { Content } from './store/cache-store.ts';
import type { Stored } from './rules/stored.ts';

/** Stored content for one exchange, at whose end it is closed. */
export function sourceOf(stored: Stored, content: Content, exchange: Ending): Source {
  exchange.on('close', () => content.close());
  if (exchange.destroyed) content.close();
  return {
    stored,
    whole: content.whole,
    pieces: (first = 0, last = Infinity) => piecesOf(content, first, last + 1),
  };
}

function piecesOf(content: Content, from: number, end: number): Pieces {
  return {
    async *each(most) {
      using size = pieceSize();
      let position = from;
      while (position < end) {
        const piece = await content.read(position, Math.min(most, size.octets, end - position));
        if (piece.length === 0) return;
        position += piece.length;
        yield piece;
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}
