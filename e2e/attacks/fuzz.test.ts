import { expect, test } from '@jest/globals';
import { startPair } from '../pair/pair.ts';
import { fuzz } from './fuzz.ts';
import { dice } from './dice.ts';
import { fuzzedFrames, fuzzedRequest } from './fuzzed.ts';

test('the same seed makes the same requests and frames', () => {
  const all = (seed: number) => {
    const roll = dice(seed);
    return Array.from({ length: 50 }, () => [fuzzedRequest(roll, 'a'), fuzzedFrames(roll)]);
  };
  expect(all(1)).toEqual(all(1));
  expect(all(1)).not.toEqual(all(2));
});

test('fuzzed requests and frames cause no server error, and another client is served meanwhile', async () => {
  await using pair = await startPair();
  const { statuses, frames, served } = await fuzz(pair, {
    seed: 1,
    requests: 200,
    frames: 3000,
  });
  const known = Object.keys(statuses).map(Number);
  expect(known.filter((status) => status >= 500 && status !== 501 && status !== 505)).toEqual([]);
  expect(known).toEqual(expect.arrayContaining([400, 401, 404]));
  expect(frames).toBeGreaterThanOrEqual(3000);
  expect(served).toBeGreaterThan(0);
});
