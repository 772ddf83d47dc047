import { expect, test } from '@jest/globals';
import { type CacheReport, readReport, writeReport } from './cache-report.ts';

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

test('a report is read as it was written', () => {
  expect(readReport(writeReport(REPORT))).toEqual(REPORT);
});

test('members that came later are no matter', () => {
  const [space] = REPORT;
  expect(readReport(JSON.stringify([{ ...space, later: 1 }]))).toEqual(REPORT);
});

test.each(['', '{', '{}', '[{"space":"/shop/"}]'])('%j says nothing', (text) => {
  expect(readReport(text)).toBeUndefined();
});
