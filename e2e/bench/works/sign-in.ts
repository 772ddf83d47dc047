import { ALONE } from '#shared/base/line.ts';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { addCrowd } from '../gate.ts';
import type { HttpContender } from '../http-load.ts';
import { onWrk } from '../loaded.ts';
import { always, type HttpRequest, inTurn } from '../requests.ts';
import { startBareArgon2 } from '../targets/bare.ts';
import { type Countersign, startCountersign } from '../targets/countersign.ts';
import { type OnEachStore, onEachStore } from '../targets/stores.ts';
import { type Loaded, plus, room } from '../work.ts';

/** So many people that no person exceeds the limit of sessions. */
const CROWD = 500;

interface Targets {
  readonly argon2: Loaded;
  readonly stores: OnEachStore<Loaded>;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const password = 'correct horse battery';
  const hash = await createPasswords().hash(ALONE, password);
  return {
    argon2: onWrk({
      name: 'argon2id',
      server: stack.use(await startBareArgon2({ hash, password }, folder)),
      load: always({ method: 'GET', path: '/', fields: {} }),
      answer: { status: 204 },
    }),
    stores: await onEachStore(stack, async (on) =>
      onWrk(await signingIn(stack.use(await startCountersign({}, on)))),
    ),
  };
}

/** People who sign in, each with the form for a browser without cookies. */
export async function signingIn({ pair, authz }: Countersign): Promise<HttpContender> {
  const crowd = await addCrowd(pair, CROWD);
  const browser = new TestBrowser(authz.url, pair.issuer);
  const { forms } = await browser.open('/account');
  const [form] = forms;
  if (form === undefined) throw new Error('there is no form');
  const { action: path, fields } = form;
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const request = (name: string, password: string): HttpRequest => ({
    method: 'POST',
    path,
    fields: {
      Origin: pair.issuer,
      Cookie: cookie,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...Object.fromEntries(fields), name, password }).toString(),
  });
  return {
    name: 'ours',
    server: authz,
    load: inTurn(crowd.map(({ name, password }) => request(name, password))),
    answer: { status: 303 },
    forged: () => request(crowd[0]?.name ?? '', 'another horse battery'),
    refusal: 422, // the form again
  };
}

const MILLISECOND = 1000;

/** Sign-in pages. */
export const SIGN_IN = room(start, [
  {
    name: 'POST of the sign-in form',
    goals: { argon2id: plus(MILLISECOND) },
    loads: ({ argon2, stores }) => ({ beside: [argon2], ways: stores }),
  },
]);
