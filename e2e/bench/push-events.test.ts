import { expect, test } from '@jest/globals';
import { eventReader, type Message } from './push-events.ts';

const event = (path: string, text: string) => {
  const data = {
    url: `https://push.example${path}`,
    body: Buffer.from(text).toString('base64url'),
  };
  return `event: message\ndata: ${JSON.stringify(data)}\n\n`;
};

test.each([1, 2, 7, 1000])(
  'reads messages from pieces of %d characters, and skips comments',
  (size) => {
    const stream = `:\n\n${event('/push/message/1', 'one')}:\n\n${event('/push/message/2', 'two')}`;
    const arrived: [string, Message][] = [];
    const read = eventReader('/push/push/a', (push, message) => arrived.push([push, message]));
    for (let at = 0; at < stream.length; at += size) read(stream.slice(at, at + size));
    expect(arrived).toEqual([
      ['/push/push/a', { path: '/push/message/1', body: 'one' }],
      ['/push/push/a', { path: '/push/message/2', body: 'two' }],
    ]);
  },
);

test('a partial event is no message', () => {
  const arrived: string[] = [];
  const read = eventReader('/a', (push) => arrived.push(push));
  read(event('/push/message/1', 'one').slice(0, -1));
  expect(arrived).toEqual([]);
});
