/** @slow */
import { describe, expect, test } from '@jest/globals';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { judge } from '../../judge/judge.ts';
import {
  granted,
  NAMED,
  NO_CHALLENGE,
  openStores,
  refused,
  issuerAndOrigin,
} from './private-token.fixture.ts';

describe('RFC 9577 section 2.2: the store has lost its memory of spent tokens', () => {
  test.each(NAMED)(
    '%s: a token of a window before the loss is refused, and a new token is accepted',
    async (_, type) => {
      let memory: string | undefined = 'first';
      const { get, redeem, at, clock, scheme } = await issuerAndOrigin({
        space: { window: 60 },
        memory: async () => memory,
      });
      const emptied = at({ stores: await openStores(await storeFolder(), clock) });
      const token = await get(type);
      expect(await redeem(token)).toEqual(granted);
      memory = undefined;
      const unavailable = { kind: 'unavailable', status: 503, retryAfter: 1 };
      expect(await emptied.redeem(token)).toMatchObject(unavailable);
      expect(await judge(spaceOf([scheme]), requestOf())).toMatchObject({ status: 503 });
      memory = 'second';
      expect(await emptied.redeem(token)).toEqual(NO_CHALLENGE);
      expect(await emptied.redeem(await get(type, emptied))).toEqual(granted);
    },
  );

  test('a token is refused if the store loses its memory during the verification', async () => {
    let memory = 'first';
    const { get, redeem, issuer } = await issuerAndOrigin({
      space: { window: 60 },
      memory: async () => memory,
    });
    const token = await get(BLIND_RSA);
    issuer.state.meanwhile = () => {
      memory = 'second';
    };
    expect(await redeem(token)).toEqual(refused(refuse('private-token-forgotten')));
  });

  test('without a window the memory is not asked for, since the keys are lost with it', async () => {
    const memory = () => Promise.reject(new Error('asked'));
    const { get, redeem } = await issuerAndOrigin({ memory });
    expect(await redeem(await get(VOPRF))).toEqual(granted);
  });
});
