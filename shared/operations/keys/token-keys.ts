import { GENERATE, type TokenKeyLifecycle } from '#shared/keys/token-key-lifecycle.ts';
import { Conflict, type House } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** Returns the life cycle of the PrivateToken issuer's keys. Rejects with `Conflict` if there is no issuer. */
export async function tokenKeyLife(house: House): Promise<TokenKeyLifecycle> {
  const { stores, recorder, config, clock, random } = house;
  const { privateTokens: times } = config;
  if (times === undefined) {
    throw new Conflict(said('no-private-tokens'));
  }
  const master = await house.masterSecret();
  return { stores, recorder, master, clock, random, times, generate: GENERATE };
}
