import { expect, test } from '@jest/globals';
import { type CacheReport, readCacheReport, writeReport } from './reports.ts';

const REPORT: CacheReport = [
  {
    space: '/shop/',
    origin: 'https://api.example',
    entries: 2,
    octets: 3000,
    counts: { hit: 7, miss: 2 },
    bans: [{ rule: { path: '/a*' }, soft: false, at: 1, met: 4, swept: true }],
  },
];

test('a report that is written and read is the same', () => {
  expect(readCacheReport(writeReport(REPORT))).toEqual(REPORT);
});

test('members that a newer release has added are ignored', () => {
  const [space] = REPORT;
  expect(readCacheReport(JSON.stringify([{ ...space, later: 1 }]))).toEqual(REPORT);
});

test.each(['', '{', '{}', '[{"space":"/shop/"}]'])('%j is no report', (text) => {
  expect(readCacheReport(text)).toBeUndefined();
});
