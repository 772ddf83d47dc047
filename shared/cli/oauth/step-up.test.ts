import { beforeEach, describe, expect, test } from '@jest/globals';
import { CLI } from '#shared/base/invocation.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, newData, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';
import { deviceServer, error, sent } from './authorization-server.fixture.ts';

const PASSKEY = 'urn:countersign:acr:passkey';
const INSUFFICIENT = 'error="insufficient_user_authentication"';

let shell: TestShell;
beforeEach(async () => {
  shell = new TestShell({ ...(await newData()), HOME: await temporaryFolder() });
});

/** A resource that refuses every token with these challenges; the shell's login is for this resource. */
async function refusing(challenges: string, status = 401, asked: readonly string[] = []) {
  const as = await deviceServer();
  const rs = await listen((request, origin) => {
    const { url } = request;
    const resource = `${origin}/documents/`;
    return url?.startsWith('/.well-known/')
      ? { body: { resource, authorization_servers: [as.origin] } }
      : {
          status: request.headers.authorization === undefined ? 401 : status,
          fields: { 'www-authenticate': challenges },
        };
  });
  const url = `${rs.origin}/documents/`;
  await inProcess(shell, 'login', '--issuer', as.origin, '--resource', url, ...asked);
  return { as, url, args: ['request', 'DELETE', url] };
}

describe('`request` names the sign-in that a resource requires (RFC 9470 section 4)', () => {
  test.each([
    [`DPoP ${INSUFFICIENT}, acr_values="${PASSKEY}"`, `--acr-values ${PASSKEY}`],
    [`DPoP ${INSUFFICIENT}, max_age="300"`, '--max-age 300'],
    [`DPoP ${INSUFFICIENT}, acr_values="a b", max_age=0`, '--acr-values "a b" --max-age 0'],
    [`Bearer ${INSUFFICIENT}, max_age=9, DPoP ${INSUFFICIENT}, max_age=5`, '--max-age 5'],
    [`Bearer ${INSUFFICIENT}, max_age=9, DPoP algs="ES256"`, '--max-age 9'],
  ])('%s', async (challenges, options) => {
    const { as, url, args } = await refusing(challenges);
    const { code, stderr } = await inProcess(shell, ...args);
    const before = `--issuer ${as.origin} --resource ${url} --scope documents:read`;
    expect(code).toBe(1);
    expect(stderr).toContain(`Run: ${CLI} login ${before} ${options}\n`);
  });

  test("the challenge's scopes are added to the login's scopes", async () => {
    const scope = 'scope="documents:write documents:read"';
    const { args } = await refusing(`DPoP ${INSUFFICIENT}, max_age=5, ${scope}`);
    const { stderr } = await inProcess(shell, ...args);
    expect(stderr).toContain('--scope "documents:read documents:write" --max-age 5\n');
  });

  test.each([
    ['acr_values="$(rm -rf ~)"'],
    ['acr_values="a`id`"'],
    ['acr_values="--issuer"'],
    ['acr_values="a;reboot"'],
    ['max_age="5 && curl evil.example"'],
    ['acr_values="a", scope="b|sh"'],
    ['acr_values="a\'b"'],
  ])('%s could run a shell command, so it is not printed', async (params) => {
    const { args } = await refusing(`DPoP ${INSUFFICIENT}, ${params}`);
    const { code, stderr } = await inProcess(shell, ...args);
    expect(code).toBe(1);
    expect(stderr).toContain('not safe to copy');
    expect(stderr).not.toContain('login');
  });

  test('any other 401 means a refused token', async () => {
    const { args } = await refusing('DPoP error="invalid_token", acr_values="a"');
    const { stderr } = await inProcess(shell, ...args);
    expect(stderr).toContain(`The token was refused: run ${CLI} login again.`);
  });
});

describe('`request` names the login with the scopes that a resource requires (RFC 6750 section 3.1)', () => {
  const LACKS = 'error="insufficient_scope"';

  test.each([
    `DPoP ${LACKS}, scope="documents:read documents:write"`,
    `Bearer ${LACKS}, scope="documents:write", DPoP algs="ES256"`,
    `Bearer ${LACKS}, scope="other", DPoP ${LACKS}, scope="documents:write"`,
  ])('%s', async (challenges) => {
    const { as, url, args } = await refusing(challenges, 403);
    const { code, stderr } = await inProcess(shell, ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `more scopes. Run: ${CLI} login --issuer ${as.origin} --resource ${url} --scope "documents:read documents:write"\n`,
    );
  });

  test.each([
    `DPoP ${LACKS}`,
    'DPoP error="invalid_token", scope="documents:write"',
    `DPoP ${INSUFFICIENT}, scope="documents:write"`,
    `Basic ${LACKS}, scope="documents:write"`,
  ])('after %s another login would not help', async (challenges) => {
    const { args } = await refusing(challenges, 403);
    const { code, stderr } = await inProcess(shell, ...args);
    expect([code, stderr]).toEqual([1, 'HTTP 403\n']);
  });

  test('a scope that the login already asked for in vain is mentioned before the same login', async () => {
    const challenge = `DPoP ${LACKS}, scope="documents:read documents:write"`;
    const { args } = await refusing(challenge, 403, ['--scope', 'documents:read documents:write']);
    const { stderr } = await inProcess(shell, ...args);
    expect(stderr).toContain(
      'more scopes. This login has asked for documents:write already and did not get it. You did not allow it, ',
    );
    expect(stderr).toMatch(/To try again: .* --scope "documents:read documents:write"\n/);
  });

  test('scopes that could run a shell command are not printed', async () => {
    const { args } = await refusing(`DPoP ${LACKS}, scope="$(id) documents:write"`, 403);
    const { stderr } = await inProcess(shell, ...args);
    expect(stderr).toContain('not safe to copy');
    expect(stderr).not.toContain('login');
  });
});

describe('`login` requests a stronger or newer sign-in (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
  test('--acr-values and --max-age are sent only to the device authorization endpoint', async () => {
    const as = await deviceServer();
    const asked = ['--acr-values', `${PASSKEY} b`, '--max-age', '0'];
    await inProcess(shell, 'login', '--issuer', as.origin, ...asked);
    expect(sent(as, '/device/auth')).toEqual([
      { client_id: 'demo-device', acr_values: `${PASSKEY} b`, max_age: '0' },
    ]);
    expect(sent(as, '/token')[0]).not.toHaveProperty('acr_values');
  });

  test.each(['-1', '1e3', 'soon', '9999999999', ''])('--max-age %j is refused', async (text) => {
    const as = await deviceServer();
    const args = ['--issuer', as.origin, `--max-age=${text}`];
    const { code, stderr } = await inProcess(shell, 'login', ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--max-age')]);
    expect(sent(as, '/device/auth')).toEqual([]);
  });

  test('a sign-in that is too weak ends the login with an explanation', async () => {
    const as = await deviceServer({ polls: [error('unmet_authentication_requirements')] });
    const args = ['--issuer', as.origin, '--acr-values', PASSKEY];
    const { code, stderr } = await inProcess(shell, 'login', ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('--acr-values names')]);
    expect((await inProcess(shell, 'whoami')).stderr).toContain('nobody is logged in');
  });
});
