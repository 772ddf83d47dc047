import { expect, test } from '@jest/globals';
import { createMessageReader, READ_AT_ONCE } from './message-reader.ts';

const TOOLS = new Map([['add_note', ['notes:write']]]);
const message = (length: number) => {
  const call = { method: 'tools/call', params: { name: 'add_note', arguments: '' } };
  const empty = JSON.stringify(call).length;
  call.params.arguments = 'x'.repeat(length - empty);
  return Buffer.from(JSON.stringify(call));
};

test('a message of 64 KiB is read at once, and longer messages in a thread, one after another', async () => {
  const reader = createMessageReader();
  const scopes = { scopes: ['notes:write'] };
  expect(await reader.read('a', message(READ_AT_ONCE), TOOLS)).toEqual(scopes);
  expect(reader.threads).toBe(0);
  const long = message(READ_AT_ONCE + 1);
  const calls = ['a', 'b', 'a', 'b', 'c'].map((holder) => reader.read(holder, long, TOOLS));
  expect(await Promise.all(calls)).toEqual(calls.map(() => scopes));
  expect(reader.threads).toBe(1);
});

test('RFC 9110 section 15.6.4: a long message behind eight of the same holder is 503, and one of another holder is read', async () => {
  const reader = createMessageReader();
  const long = message(READ_AT_ONCE + 1);
  const read = (holder: string) => reader.read(holder, long, TOOLS);
  const waiting = Array.from({ length: 8 }, () => read('a'));
  await expect(read('a')).rejects.toMatchObject({ status: 503, fields: { 'Retry-After': '1' } });
  expect(await read('b')).toEqual({ scopes: ['notes:write'] });
  expect(await Promise.all(waiting)).toHaveLength(8);
  expect(await read('a')).toEqual({ scopes: ['notes:write'] });
});
