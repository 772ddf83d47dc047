import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { Outage } from './outage.ts';

test('the log has one line when an outage begins, and one when it has been over for some seconds', () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const note = (event: string, fields?: object) => void lines.push([event, fields]);
  const log = { info: note, warn: note, error: note };
  const outage = new Outage('some.db', log, () => clock.monotonic());
  outage.worked();
  outage.check();
  expect(lines).toEqual([]);
  for (let n = 0; n < 10; n += 1) {
    outage.failed(new Error('disk full'));
    clock.advance(3);
    outage.worked();
  }
  expect(lines).toEqual([['store.failing', { part: 'some.db', reason: 'Error: disk full' }]]);
  expect(() => outage.check()).toThrow('some.db failed a moment ago: Error: disk full');
  clock.advance(3);
  outage.worked();
  outage.check();
  outage.worked();
  expect(lines.slice(1)).toEqual([['store.working', { part: 'some.db' }]]);
  outage.failed('again');
  expect(lines).toHaveLength(3);
});
