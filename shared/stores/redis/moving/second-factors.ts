import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import { digestOf } from '../connection/digest.ts';
import { scan } from '../connection/scan.ts';
import { oneSlot } from '../connection/slots.ts';
import { placeIn, secondFactorKeys } from '../credentials/second-factor-keys.ts';
import { addFactor } from '../credentials/second-factors.ts';
import type { Mover } from './move.ts';

export const moveSecondFactors: Mover = async ({ redis, mine, prefix, slots, count }) => {
  for (const before of oneSlot(prefix).all.map(secondFactorKeys)) {
    for await (const slice of scan(redis, before.factors)) {
      const moved = slice.map(([, record]) => {
        const { accountId }: SecondFactorRecord = JSON.parse(record);
        return addFactor(mine, placeIn(slots.of(digestOf(accountId)), accountId), record);
      });
      await Promise.all(moved);
      count(moved.length);
    }
    for (const key of [before.factors, before.order]) await redis.durableCommand('DEL', key);
  }
};
