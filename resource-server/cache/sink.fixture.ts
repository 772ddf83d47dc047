import { EventEmitter } from 'node:events';
import type { Sink } from '../forwarding/sink.ts';

/** The exchange of a client that leaves when the test closes it. */
export class TestExchange extends EventEmitter {
  destroyed = false;

  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** A sink that records its calls. */
export function testSink(exchange = new TestExchange()) {
  const told: string[] = [];
  const sink: Sink & { readonly told: string[]; readonly exchange: TestExchange } = {
    told,
    exchange,
    declines: () => false,
    refused: false,
    get wanted() {
      return !exchange.destroyed;
    },
    interim: ({ status }) => void told.push(`interim ${status}`),
    begin: ({ status }) => void told.push(`begin ${status}`),
    write(piece) {
      told.push(piece.toString());
      return true;
    },
    drained: (resume) => resume(),
    end: () => void told.push('end'),
    breakOff: () => void told.push('break'),
  };
  return sink;
}
