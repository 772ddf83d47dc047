import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { epochSeconds } from '#shared/base/clock.ts';
import { ensureKeys, privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import { inProcess, json, newData, TestShell, unusedData } from '../cli.fixture.ts';
import { withKeys } from '../stores/with-keys.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** A store with a key and an epoch, and tokens as its authorization server issues them. */
async function pair() {
  const shell = new TestShell(await newData());
  const { kid, jwk } = await withKeys(shell, 'keys', async (life) => {
    await ensureKeys(life, ['ES256']);
    const [stored] = await life.stores.keys.list();
    if (stored === undefined) throw new Error('no key');
    return { kid: stored.kid, jwk: privateJwk(life, stored) };
  });
  const epoch = await withStores(shell, ({ revocations }) => revocations.epoch(true));
  const key = await importJWK({ ...jwk }, 'ES256');
  const now = epochSeconds(shell.clock);
  const claims = {
    iss: 'http://localhost:3000',
    aud: 'http://localhost:3001/documents/',
    sub: 'client',
    client_id: 'client',
    jti: 'the-jti',
    iat: now,
    exp: now + 600,
    scope: 'documents:read',
    client_gen: 0,
    epoch,
  };
  const token = (changed: JWTPayload = {}, signer: Parameters<SignJWT['sign']>[0] = key) =>
    new SignJWT({ ...claims, ...changed })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .sign(signer);
  return { shell, kid, token };
}

describe('token explain', () => {
  test('prints issuer, client, audience, scope and times, and that the token is valid and not revoked', async () => {
    const { shell, token, kid } = await pair();
    const { code, stdout } = await inProcess(shell, 'token', 'explain', await token());
    expect(code).toBe(0);
    expect(stdout).toMatch(/^issued by +http:\/\/localhost:3000$/m);
    expect(stdout).toMatch(/^by the key +/m);
    expect(stdout).toContain(kid);
    expect(stdout).toMatch(/^may +documents:read$/m);
    expect(stdout).toMatch(/^expires at +\S+Z \(in 600 s\)$/m);
    expect(stdout).toMatch(/^checked +signature, issuer, audience and times are good$/m);
    expect(stdout).toMatch(/^revoked +no$/m);
  });

  test('prints how and when the person signed in (RFC 9068 section 2.2.1)', async () => {
    const { shell, token } = await pair();
    const acr = 'urn:countersign:acr:second-factor';
    const auth_time = epochSeconds(shell.clock) - 60;
    const signedIn = await token({ acr, amr: ['pwd', 'otp'], auth_time });
    const { stdout } = await inProcess(shell, 'token', 'explain', signedIn);
    expect(stdout).toMatch(/^signed in by +urn:countersign:acr:second-factor$/m);
    expect(stdout).toMatch(/^methods +\["pwd","otp"\]$/m);
    expect(stdout).toMatch(/^signed in at +\S+Z \(60 s ago\)$/m);
    const machine = await inProcess(shell, 'token', 'explain', await token());
    expect(machine.stdout).not.toMatch(/signed in|methods/);
  });

  test('reads standard input, and prints JSON', async () => {
    const { shell, token } = await pair();
    shell.stdin = `${await token()}\n`;
    expect(await json(shell, 'token', 'explain', '-')).toMatchObject({
      header: { alg: 'ES256' },
      claims: { jti: 'the-jti' },
      good: true,
    });
  });

  test.each([
    ['expired', { exp: 1_000_000_000 }, /no: expired/],
    ['of another issuer', { iss: 'https://evil.example' }, /no: iss is another issuer/],
    ['for another resource', { aud: 'https://evil.example' }, /no: aud/],
    ['with an invalid time', { exp: 1e300 }, /which is no time/],
  ])('a token %s is not called valid', async (_, changed, reason) => {
    const { shell, token } = await pair();
    const { stdout } = await inProcess(shell, 'token', 'explain', await token(changed));
    expect(stdout).toMatch(reason);
  });

  test('reports a signature of another key, and does not call an unchecked token valid', async () => {
    const { shell, token } = await pair();
    const forged = await token({}, OTHER);
    expect((await inProcess(shell, 'token', 'explain', forged)).stdout).toMatch(
      /no: signature is wrong/,
    );
    const elsewhere = new TestShell(await newData());
    const { stdout } = await inProcess(elsewhere, 'token', 'explain', await token());
    expect(stdout).toMatch(/no: this store has no such key, so the signature was not checked/);
    expect(stdout).not.toMatch(/good/);
  });

  test('escapes control characters in a claim', async () => {
    const { shell, token } = await pair();
    const forged = await token({ scope: 'x\nrevoked  no\u001b[8m' }, OTHER);
    const { stdout } = await inProcess(shell, 'token', 'explain', forged);
    expect(stdout).toContain(String.raw`x\u000arevoked  no\u001b[8m`);
    expect(stdout).not.toMatch(/^revoked/m);
  });

  test.each(['', 'x', 'a.b.c', 'e30.e30', '..', '{}', 'e30.W10.x'])(
    '%j is no JWT: exit code 1 or 2, and no crash',
    async (text) => {
      const { shell } = await pair();
      shell.stdin = text;
      const { code, stderr } = await inProcess(shell, 'token', 'explain', '-');
      expect(stderr).toMatch(
        /this is not a JWT: .+\nGive the whole access token or ID token|there is no token/,
      );
      expect(code).toBe(text === '' ? 2 : 1);
    },
  );
});

describe('token revoke', () => {
  test('revokes the token, as explain shows, and no other token', async () => {
    const { shell, token } = await pair();
    expect(await json(shell, 'token', 'revoke', await token())).toEqual({
      jti: 'the-jti',
      revoked: true,
    });
    const { stdout } = await inProcess(shell, 'token', 'explain', await token());
    expect(stdout).toMatch(/^revoked +yes, this token$/m);
    const other = await inProcess(shell, 'token', 'explain', await token({ jti: 'other' }));
    expect(other.stdout).toMatch(/^revoked +no$/m);
  });

  test("a forged token with another token's jti revokes nothing", async () => {
    const { shell, token } = await pair();
    const { code, stderr } = await inProcess(shell, 'token', 'revoke', await token({}, OTHER));
    expect([code, stderr]).toEqual([1, expect.stringContaining('signature is wrong')]);
    expect((await inProcess(shell, 'token', 'explain', await token())).stdout).toMatch(
      /^revoked +no$/m,
    );
  });
});

describe('revocation status', () => {
  test('shows the entries, and whether a resource server would trust the feed', async () => {
    const { shell, token } = await pair();
    await json(shell, 'token', 'revoke', await token());
    expect(await json(shell, 'revocation', 'status')).toMatchObject({ entries: 1, trusted: true });
  });

  test('does not trust a store without an epoch: exit code 1', async () => {
    const { code, stdout } = await inProcess(
      new TestShell(await unusedData()),
      'revocation',
      'status',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/trusted: no/);
  });
});
