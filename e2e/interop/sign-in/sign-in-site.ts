/** The pair in front of an application, with the gateway, nginx or Caddy between client and application. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Flow, startFlowOn, type StoreKind } from '../../flows/flow.ts';
import { signIn } from '../../flows/browser.fixture.ts';
import { launchBrowser, newPerson, type PersonOptions } from '../../parts/browser.ts';
import { freePort } from '../../parts/free-port.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { startCaddy, startNginx } from '../forward-auth/proxies.ts';
import { type Application, startApplication } from './application.ts';

export type Front = 'gateway' | 'nginx' | 'Caddy';
export const FRONTS: readonly Front[] = ['gateway', 'nginx', 'Caddy'];

const PROXIES = { nginx: startNginx, Caddy: startCaddy };

export interface SignInSite extends AsyncDisposable {
  readonly flow: Flow;
  readonly pair: Pair;
  readonly application: Application;
  readonly browser: Browser;
  /** The application's public origin. */
  readonly origin: string;
  readonly alice: Person;
  /** Opens a page in a new browser context. */
  visit(options?: PersonOptions): Promise<{ context: BrowserContext; page: Page }>;
  /** Opens a page in which alice, or another person, has signed in. */
  signedIn(
    options?: PersonOptions,
    person?: Person,
  ): Promise<{ context: BrowserContext; page: Page }>;
}

/** `members`: further members of the application's space. */
export async function startSignInSite(
  front: Front,
  members: { readonly upstream?: object } & object = {},
  kind: StoreKind = 'sqlite',
): Promise<SignInSite> {
  await using parts = new AsyncDisposableStack();
  const application = parts.use(await startApplication());
  const own = `http://127.0.0.1:${await freePort()}`;
  const space = {
    realm: 'Notes',
    schemes: ['Bearer', 'DPoP'],
    signIn: true,
    identity: { fields: 'remote-user' },
    scopes: { safe: ['notes:read'], unsafe: ['notes:write'] },
    grants: { everyone: ['notes:read', 'notes:write'] },
    ...(front === 'gateway' ? { serves: 'upstream' } : { serves: 'verify' }),
    ...members,
    ...(front === 'gateway' && {
      upstream: { url: `${application.origin}/`, identity: ['fields'], ...members.upstream },
    }),
  };
  const flow = parts.use(
    await startFlowOn(kind, {
      settings: ({ resource }) => ({
        ...(front !== 'gateway' && { trustedProxies: ['127.0.0.1/32'] }),
        spaces: [{ ...space, url: `${front === 'gateway' ? resource : own}/` }],
      }),
    }),
  );
  const { pair } = flow;
  if (front !== 'gateway') {
    const folder = parts.use(await temporaryFolder()).path;
    const { resource } = pair;
    const places = { folder, origin: own, resource, application: application.origin };
    parts.use(await PROXIES[front](places, 'sign-in'));
  }
  const browser = await launchBrowser();
  parts.defer(() => browser.close());
  const alice = await pair.addPerson('alice');
  const origin = front === 'gateway' ? pair.resource : own;
  const visit = async (options: PersonOptions = {}) => {
    const context = await newPerson(browser, options);
    return { context, page: await context.newPage() };
  };
  const owned = parts.move();
  return {
    flow,
    pair,
    application,
    browser,
    origin,
    alice,
    visit,
    async signedIn(options, person = alice) {
      const visitor = await visit(options);
      await visitor.page.goto(origin);
      await signIn(visitor.page, person);
      await visitor.page.waitForURL(`${origin}/`);
      return visitor;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
