import { type IssuerKeys, KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import type { Clock } from '#shared/base/clock.ts';
import { explain } from '#shared/explain/explain.ts';
import { type Explained, type KeyOf, LONGEST_TEXT } from '#shared/explain/explained.ts';
import { Unreadable } from '#shared/explain/unreadable.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { Frame } from '#shared/pages/document.ts';
import { PLAYGROUND_LIST } from '#shared/config/playground.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { PageRoute } from '../answers/page-routes.ts';
import { type ExplainProps, explainPage } from '../pages/views/explain.ts';
import type { Charge } from './charge.ts';
import { readField } from './form.ts';
import { receiveForm } from './page-form.ts';
import { EXPLAIN_PATH } from './spaces.ts';

/**
 * Bytes of the longest form. Each byte of the text may become three, and a line end two bytes (WHATWG URL section 5.1).
 */
const LONGEST_FORM = 3 * LONGEST_TEXT + 64;

export interface ExplainParts {
  readonly recipient: Recipient;
  readonly charge: Charge;
  readonly clock: Clock;
  readonly frameOf: (request: AnyRequest) => Frame;
  readonly issuers: ReadonlyMap<string, KnownIssuer>;
}

/** An issuer whose signatures the page can check. */
interface KnownIssuer {
  readonly keys: IssuerKeys;
  /** The keys of a server of the same name. It signs tokens that the issuer's resource server refuses. */
  readonly namesake?: IssuerKeys;
}

/**
 * The page that explains a text that a visitor pastes. It stores and logs nothing. It fetches nothing but the keys of
 * issuers that this server knows.
 */
export function explainRoutes(parts: ExplainParts): readonly PageRoute[] {
  const { recipient, charge, frameOf } = parts;
  const props = { path: EXPLAIN_PATH, index: PLAYGROUND_LIST, text: '' };
  return [
    ['GET', EXPLAIN_PATH, ({ req }) => explainPage(frameOf(req), props)],
    [
      'POST',
      EXPLAIN_PATH,
      async ({ req, state: { origin } }) => {
        const { form, visitor } = await receiveForm(req, { origin, recipient }, LONGEST_FORM);
        const text = readField(form, 'text');
        await charge(visitor);
        return explainPage(frameOf(req), { ...props, text, ...(await toldOf(text, parts)) });
      },
    ],
  ];
}

/** Returns the explanation of a text, or why there is none. */
async function toldOf(
  text: string,
  parts: Pick<ExplainParts, 'clock' | 'issuers'>,
): Promise<Pick<ExplainProps, 'explained' | 'problem'>> {
  try {
    return { explained: await explainByKeys(text, parts) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

/** Explains a text twice: first to learn which keys its tokens name, then with these keys. */
async function explainByKeys(
  text: string,
  { clock, issuers }: Pick<ExplainParts, 'clock' | 'issuers'>,
): Promise<readonly Explained[]> {
  const searches = new Map<string, Promise<FoundKey>>();
  const first = explain(text, clock, (issuer, kid, algorithm) => {
    const known = typeof issuer === 'string' ? issuers.get(issuer) : undefined;
    if (known) searches.set(nameOf(issuer, kid, algorithm), findKey(known, kid, algorithm));
    return undefined;
  });
  if (searches.size === 0) return first;
  const keys = new Map<string, FoundKey>();
  await Promise.all(Array.from(searches, async ([name, search]) => keys.set(name, await search)));
  return explain(text, clock, (...named) => keys.get(nameOf(...named)));
}

type FoundKey = ReturnType<KeyOf>;

const nameOf = (...[issuer, kid, { alg }]: Parameters<KeyOf>) => JSON.stringify([issuer, kid, alg]);

/** Undefined, so that the signature stays open: the keys cannot be fetched, or the namesake has the key. */
async function findKey(
  { keys, namesake }: KnownIssuer,
  kid: string,
  algorithm: JwsAlgorithm,
): Promise<FoundKey> {
  try {
    const key = await keys.key(kid, algorithm);
    if (key) return key;
    return (await namesake?.key(kid, algorithm)) ? undefined : 'absent';
  } catch (error) {
    if (error instanceof KeysUnavailable) return undefined;
    throw error;
  }
}
