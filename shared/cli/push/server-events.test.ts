import { describe, expect, test } from '@jest/globals';
import { eventsIn, type ServerEvent } from './server-events.ts';

async function* pieces(...texts: readonly (string | Uint8Array)[]) {
  for (const text of texts) yield Buffer.from(text);
}

async function eventsOf(...texts: readonly (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of eventsIn(pieces(...texts))) events.push(event);
  return events;
}

const message = (data: string): ServerEvent => ({ event: 'message', data });

describe('events of a stream (HTML standard, section 9.2.6)', () => {
  test.each<[string, string, readonly ServerEvent[]]>([
    ['an event has a name', 'event: receipt\ndata: a\n\n', [{ event: 'receipt', data: 'a' }]],
    ['an event without a name is a message', 'data: a\n\n', [message('a')]],
    ['a name does not go on to the next event', 'event: x\n\ndata: a\n\n', [message('a')]],
    ['data of several lines', 'data: a\ndata:\ndata: b\n\n', [message('a\n\nb')]],
    ['one space before the value is left out', 'data:a\ndata:  b\n\n', [message('a\n b')]],
    ['a field without a value', 'data\n\n', [message('')]],
    ['colons in the value', 'data: a: b\n\n', [message('a: b')]],
    ['comments are not shown', ':\n\n: x\ndata: a\n:\n\n', [message('a')]],
    ['an event without data is none', 'event: message\n\n', []],
    ['other fields are ignored', 'id: 1\nretry: 5\nDATA: x\ndata: a\n\n', [message('a')]],
    ['an event without its empty line is none', 'data: a\n\ndata: b\n', [message('a')]],
    ['a byte order mark at the start', '\uFEFFdata: a\n\n', [message('a')]],
    ['CRLF, CR and LF end lines', 'data: a\r\ndata: b\rdata: c\n\r\n', [message('a\nb\nc')]],
    ['CR alone', 'data: a\r\rdata: b\r\r', [message('a'), message('b')]],
  ])('are read: %s', async (_, text, events) => {
    expect(await eventsOf(text)).toEqual(events);
  });

  test('may be split anywhere, even within a CRLF or a character', async () => {
    const text = Buffer.from('event: receipt\r\ndata: ä€😀\r\ndata: b\r\n\r\ndata: c\r\n\r\n');
    const events = [{ event: 'receipt', data: 'ä€😀\nb' }, message('c')];
    for (let at = 0; at <= text.length; at += 1) {
      expect(await eventsOf(text.subarray(0, at), text.subarray(at))).toEqual(events);
    }
    expect(await eventsOf(...Array.from(text, (octet) => Uint8Array.of(octet)))).toEqual(events);
  });

  test('are reported at their empty line, before more data comes', async () => {
    const stream = eventsIn(
      (async function* () {
        yield Buffer.from('data: a\r\r');
        await new Promise(() => {});
      })(),
    );
    expect(await stream.next()).toEqual({ done: false, value: message('a') });
  });

  test.each([
    ['a line that ends', ['data: ', 'x'.repeat(20_000), '\n\n']],
    ['a line that does not end', Array.from({ length: 30 }, () => 'x'.repeat(1000))],
    ['data of many lines', Array.from({ length: 9000 }, () => 'data: x\n')],
    ['a line behind another', [`\n${'x'.repeat(20_000)}`]],
  ])('are refused if too long: %s', async (_, texts) => {
    await expect(eventsOf(...texts)).rejects.toThrow('an event of more than 16384 characters');
  });
});
