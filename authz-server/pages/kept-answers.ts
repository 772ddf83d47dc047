import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { PagesServer } from '../base/server.ts';
import { createCsrf } from './frame/csrf.ts';
import { answerWith } from './frame/respond.ts';
import { createSameBrowser } from './frame/same-browser.ts';
import { soon } from './frame/soon.ts';
import { frameOf } from './frame/view-of.ts';
import { wayBack } from './frame/way-back.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import { errorPage } from './views/error.ts';

/** Seconds for which a browser that sends a form again gets what the first came to. */
const KEPT = 30;

/** An answer of the engine to a browser that comes back from our pages. */
interface Kept {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  /** `uid` of the session of who was signed in then. */
  readonly session: string | undefined;
  readonly client: string;
  readonly code: string | undefined;
}

/** The part that is read here of what remains of an interaction. */
interface Done {
  readonly done?: true;
  readonly result?: { readonly browser?: string };
  readonly answer?: string;
}

/** Fields of one request alone. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['content-length', 'set-cookie', 'x-request-id']);

/**
 * A browser on a slow line sends a form again before the answer to the first is there, and so loses that. The answer is kept
 * for a while, sealed with the secret of the browser, and given again to that browser alone.
 */
export function createKeptAnswers(server: PagesServer, provider: Provider) {
  const { master, random } = server;
  const { artefacts } = server.stores;
  const { csrfToken } = createCsrf(server);
  const { isHere } = createSameBrowser(server, provider);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const uidOf = ({ path }: KoaContextWithOIDC) => path.slice(path.lastIndexOf('/') + 1);
  const purpose = (ctx: KoaContextWithOIDC) => `kept answer ${uidOf(ctx)} ${csrfToken(ctx)}`;
  const cookie = provider.cookieName('session');
  const isOfSession = (line: string) =>
    line.startsWith(`${cookie}=`) || line.startsWith(`${cookie}.sig=`);

  /** A request waits until the one that was before it has its answer. */
  async function find(ctx: KoaContextWithOIDC): Promise<Kept | undefined> {
    const read = () => artefacts.get('Interaction', uidOf(ctx)) as Promise<Done | undefined>;
    const { done, result } = (await read()) ?? {};
    if (done !== true || !isHere(ctx, result?.browser)) return undefined;
    const answer = await soon(async () => (await read())?.answer);
    if (answer === undefined) return undefined;
    return JSON.parse(unseal(master, purpose(ctx), answer)) as Kept;
  }

  /** The client has redeemed the code. To redeem it again would end the grant (RFC 6749 section 4.1.2). */
  async function isUsed(code: string | undefined): Promise<boolean> {
    return code !== undefined && !(await provider.AuthorizationCode.find(code))?.isValid;
  }

  return {
    /** After the engine has taken up an interaction. */
    async keep(ctx: KoaContextWithOIDC): Promise<void> {
      const { client, session, entities } = ctx.oidc;
      if (client === undefined) return;
      const id = uidOf(ctx);
      const done = (await artefacts.get('Interaction', id)) as Done | undefined;
      if (done?.done !== true || done.answer !== undefined) return;
      if (!isHere(ctx, done.result?.browser)) return;
      const fields = Object.entries(ctx.response.headers).filter(([name]) => !OWN_FIELDS.has(name));
      const kept: Kept = {
        status: ctx.status,
        fields: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])),
        cookies: cookiesOf(ctx),
        body: typeof ctx.body === 'string' ? ctx.body : '',
        session: session?.accountId === undefined ? undefined : session.uid,
        client: client.clientId,
        code: entities.AuthorizationCode?.jti,
      };
      const answer = seal(master, purpose(ctx), JSON.stringify(kept), random);
      const payload = { ...done, answer };
      await artefacts.put({ kind: 'Interaction', id, payload, seconds: KEPT });
    },

    /** False: there is none for this browser, or who was signed in is no longer. */
    async repeat(ctx: KoaContextWithOIDC): Promise<boolean> {
      const kept = await find(ctx);
      if (kept === undefined) return false;
      const [visitor, client] = await Promise.all([
        currentVisitor(ctx),
        provider.Client.find(kept.client),
      ]);
      if (client === undefined) return false;
      if (visitor && visitor.session.uid !== kept.session) return false;
      if (kept.session !== undefined && !(await findSignIn(server, kept.session))) return false;
      // A browser that is signed in may have got a newer identifier of the session meanwhile.
      const cookies = visitor
        ? [...cookiesOf(ctx), ...kept.cookies.filter((line) => !isOfSession(line))]
        : [...cookiesOf(ctx).filter((line) => !isOfSession(line)), ...kept.cookies];
      const { status, fields, body } = kept;
      if (await isUsed(kept.code)) {
        const back = wayBack(client.redirectUris);
        answerWith(ctx, errorPage(frameOf(server, ctx.req), { status: 200, kind: 'done', back }));
      } else {
        ctx.oidc.entity('Client', client);
        answerWith(ctx, { status, fields, body });
      }
      ctx.res.setHeader('Set-Cookie', cookies);
      return true;
    },
  };
}

const cookiesOf = ({ res }: KoaContextWithOIDC): readonly string[] =>
  [res.getHeader('Set-Cookie') ?? []].flat().map(String);
