import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function artefactsContract(contract: () => Contract): void {
  describe('artefacts', () => {
    const put = (kind: string, payload: Readonly<Record<string, unknown>> = {}, seconds = 60) => {
      const id = fresh();
      return contract()
        .one.artefacts.put({ kind, id, payload, seconds })
        .then(() => id);
    };

    test('a written artefact can be read through every connection', async () => {
      const { one, other } = contract();
      const payload = { a: 1, nested: { list: [true, null, 'x'] }, text: 'Grüße \u0000 "\\ 😀' };
      const id = await put('Grant', payload);
      expect(await one.artefacts.get('Grant', id)).toEqual(payload);
      expect(await other.artefacts.get('Grant', id)).toEqual(payload);
    });

    test('an unknown artefact is not found', async () => {
      const { one } = contract();
      expect(await one.artefacts.get('Grant', fresh())).toBeUndefined();
      expect(await one.artefacts.getByUid('Session', fresh())).toBeUndefined();
      expect(await one.artefacts.getByUserCode('DeviceCode', fresh())).toBeUndefined();
      expect(await one.artefacts.consume('RefreshToken', fresh())).toBe('absent');
      await expect(one.artefacts.remove('Grant', fresh())).resolves.toBeUndefined();
      await expect(one.artefacts.removeByGrant(fresh())).resolves.toBeUndefined();
    });

    test('an artefact is not found under another kind', async () => {
      const { one } = contract();
      const [uid, userCode] = [fresh(), fresh()];
      const id = await put('Session', { uid, userCode });
      expect(await one.artefacts.get('Interaction', id)).toBeUndefined();
      expect(await one.artefacts.getByUid('Interaction', uid)).toBeUndefined();
      expect(await one.artefacts.getByUserCode('Interaction', userCode)).toBeUndefined();
      expect(await one.artefacts.consume('Interaction', id)).toBe('absent');
      await one.artefacts.remove('Interaction', id);
      expect(await one.artefacts.get('Session', id)).toEqual({ uid, userCode });
    });

    test('any id and any JSON is returned unchanged', async () => {
      const { one, other } = contract();
      const text = anyText({ minLength: 1, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(text, text, fc.jsonValue(), async (id, uid, value) => {
          const payload = { uid, value };
          const expected: unknown = JSON.parse(JSON.stringify(payload));
          await one.artefacts.put({ kind: 'Session', id, payload, seconds: 60 });
          expect(await other.artefacts.get('Session', id)).toEqual(expected);
          expect(await other.artefacts.getByUid('Session', uid)).toEqual(expected);
        }),
        { numRuns: 50 },
      );
    });

    test('ids that a database may take for equal are different', async () => {
      const { one } = contract();
      const base = fresh();
      const ids = ['', ':', '%', '_', '*', '\u0000', ' ', "'", '}', '{a}'].map(
        (tail) => base + tail,
      );
      for (const id of ids) {
        await one.artefacts.put({ kind: 'Grant', id, payload: { id }, seconds: 60 });
      }
      for (const id of ids) expect(await one.artefacts.get('Grant', id)).toEqual({ id });
      expect(await one.artefacts.get('Grant', `${base}?`)).toBeUndefined();
    });

    test('a later put replaces payload, lookup keys and lifetime', async () => {
      const { one, store } = contract();
      const [uid, later] = [fresh(), fresh()];
      const id = await put('Session', { uid }, 60);
      await one.artefacts.put({ kind: 'Session', id, payload: { uid: later }, seconds: 600 });
      expect(await one.artefacts.getByUid('Session', uid)).toBeUndefined();
      expect(await one.artefacts.getByUid('Session', later)).toEqual({ uid: later });
      await store.passSeconds(300);
      expect(await one.artefacts.get('Session', id)).toEqual({ uid: later });
      await one.artefacts.put({ kind: 'Session', id, payload: { uid: later } });
      await store.passSeconds(100_000);
      expect(await one.artefacts.getByUid('Session', later)).toEqual({ uid: later });
    });

    test('a uid finds the newest artefact with this uid, also after an older one was removed', async () => {
      const { one } = contract();
      const uid = fresh();
      const older = await put('Session', { uid, n: 1 });
      await put('Session', { uid, n: 2 });
      expect(await one.artefacts.getByUid('Session', uid)).toEqual({ uid, n: 2 });
      await one.artefacts.remove('Session', older);
      expect(await one.artefacts.getByUid('Session', uid)).toEqual({ uid, n: 2 });
    });

    test('values that are not strings are no lookup keys', async () => {
      const { one } = contract();
      const id = await put('Session', { uid: 7, userCode: null, grantId: ['g'] });
      expect(await one.artefacts.getByUid('Session', '7')).toBeUndefined();
      expect(await one.artefacts.getByUserCode('Session', 'null')).toBeUndefined();
      await one.artefacts.removeByGrant('g');
      expect(await one.artefacts.get('Session', id)).toBeDefined();
    });

    test('RFC 8628 section 3.3: a device code is found by its user code until it is removed', async () => {
      const { one, other } = contract();
      const userCode = fresh();
      const id = await put('DeviceCode', { userCode });
      expect(await other.artefacts.getByUserCode('DeviceCode', userCode)).toEqual({ userCode });
      await one.artefacts.remove('DeviceCode', id);
      expect(await other.artefacts.getByUserCode('DeviceCode', userCode)).toBeUndefined();
      expect(await other.artefacts.get('DeviceCode', id)).toBeUndefined();
    });

    test('RFC 6749 section 4.1.2: a code is consumed once, and a read shows it', async () => {
      const { one, other, store } = contract();
      const uid = fresh();
      const id = await put('AuthorizationCode', { uid });
      expect(await one.artefacts.get('AuthorizationCode', id)).toEqual({ uid });
      const consumed = epochSeconds(store.clock);
      expect(await one.artefacts.consume('AuthorizationCode', id)).toBe('first');
      expect(await other.artefacts.consume('AuthorizationCode', id)).toBe('again');
      const read = await other.artefacts.get('AuthorizationCode', id);
      expect(read).toEqual({ uid, consumed: expect.any(Number) });
      expect(Math.abs(Number(read?.['consumed']) - consumed)).toBeLessThanOrEqual(1);
      expect(await other.artefacts.getByUid('AuthorizationCode', uid)).toEqual(read);
    });

    test('RFC 9700 section 4.14.2: replacing a consumed refresh token does not make it usable', async () => {
      const { one, other } = contract();
      const id = await put('RefreshToken', { v: 1 });
      await one.artefacts.consume('RefreshToken', id);
      await other.artefacts.put({ kind: 'RefreshToken', id, payload: { v: 2 }, seconds: 60 });
      expect(await other.artefacts.consume('RefreshToken', id)).toBe('again');
      expect(await other.artefacts.get('RefreshToken', id)).toEqual({
        v: 2,
        consumed: expect.any(Number),
      });
    });

    test('an expired artefact is not found, whether or not it was swept', async () => {
      const { one, store } = contract();
      const [uid, userCode] = [fresh(), fresh()];
      const id = await put('DeviceCode', { uid, userCode }, 60);
      await store.passSeconds(30);
      expect(await one.artefacts.get('DeviceCode', id)).toBeDefined();
      await store.passSeconds(60);
      expect(await one.artefacts.get('DeviceCode', id)).toBeUndefined();
      expect(await one.artefacts.getByUid('DeviceCode', uid)).toBeUndefined();
      expect(await one.artefacts.getByUserCode('DeviceCode', userCode)).toBeUndefined();
      expect(await one.artefacts.consume('DeviceCode', id)).toBe('absent');
    });

    test('an artefact without a lifetime stays', async () => {
      const { one, store } = contract();
      const id = fresh();
      await one.artefacts.put({ kind: 'Client', id, payload: { stays: true } });
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.artefacts.get('Client', id)).toEqual({ stays: true });
    });

    test('RFC 9700 section 4.14.2: all artefacts of a grant are removed with it, and no others', async () => {
      const { one, other } = contract();
      const [grantId, another] = [fresh(), fresh()];
      const kinds = ['AuthorizationCode', 'RefreshToken', 'AccessToken', 'DeviceCode'];
      const ids = await Promise.all(kinds.map((kind) => put(kind, { grantId })));
      const kept = await put('RefreshToken', { grantId: another });
      await one.artefacts.consume('AuthorizationCode', ids[0] ?? '');
      await other.artefacts.removeByGrant(grantId);
      for (const [n, kind] of kinds.entries()) {
        expect(await one.artefacts.get(kind, ids[n] ?? '')).toBeUndefined();
        expect(await one.artefacts.consume(kind, ids[n] ?? '')).toBe('absent');
      }
      expect(await one.artefacts.get('RefreshToken', kept)).toEqual({ grantId: another });
    });
  });
}
