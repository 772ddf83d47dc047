import type { Check } from '#shared/explain/checks.ts';
import { PLAYGROUND_LIST } from '#shared/config/playground.ts';
import { SCHEMES } from '#shared/auth/schemes/list.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Brand, Frame } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { PageRoute } from '../answers/page-routes.ts';
import {
  type ExchangeGroup,
  exchangePage,
  exchangesPage,
  type ShownLeg,
} from '../pages/views/playground.ts';
import type { Charge } from './charge.ts';
import { EXCHANGE_GROUPS, EXCHANGES } from './exchanges.ts';
import type { Exchange, OfCommands } from './exchange.ts';
import { type ExplainParts, explainRoutes } from './explain-page.ts';
import { HTTP2, LONGEST_FORM, readChoice } from './form.ts';
import { saidOnce } from './notes-of.ts';
import { receiveForm } from './page-form.ts';
import { outcomeOf } from './outcome.ts';
import { readRecorded, type RecordedMessage } from './recorded.ts';
import type { Leg, Run } from './run.ts';
import { wordsIn } from './words.ts';
import { EXPLAIN_PATH, pagePath, spacePath } from './spaces.ts';
import { isUtf8 } from 'node:buffer';
import { partsOf } from './http1-message.ts';

export interface PlaygroundPages {
  readonly run: Run;
  readonly charge: Charge;
  readonly clock: Clock;
  /** The keys that the page Explain uses, by issuer. */
  readonly issuers: ExplainParts['issuers'];
  readonly means: Pick<OfCommands, 'apiKey' | 'issuer'>;
  /** The URL of the space of an exchange. */
  readonly urlOf: (exchange: Exchange) => string;
  readonly brand: Brand;
  readonly recipient: Recipient;
  readonly commandsAt: (origin: string) => Pick<OfCommands, 'documents' | 'client'>;
  /** The origin of exchanges over TLS. Undefined: they are not listed. */
  readonly secureOrigin: string | undefined;
}

/** Returns the pages of the playground. */
export function playgroundPages({
  run: perform,
  charge,
  clock,
  issuers,
  means,
  urlOf,
  brand,
  recipient,
  commandsAt,
  secureOrigin,
}: PlaygroundPages): readonly PageRoute[] {
  const isHere = ({ overTls }: Exchange) => !overTls || secureOrigin !== undefined;
  const exchanges = EXCHANGES.filter(isHere);
  const frameOf = ({ headers }: AnyRequest): Frame => ({
    brand,
    language: languageOf(headers['accept-language']),
  });
  const listed = (group: ExchangeGroup) =>
    EXCHANGE_GROUPS[group].filter(isHere).map(({ title, about, standard, name }) => ({
      title,
      about,
      standard,
      path: pagePath({ name }),
    }));
  const missing = SCHEMES.map(({ name }) => name).filter((name) =>
    exchanges.every(({ space }) => !space.schemes.includes(name)),
  );
  const propsOf = (exchange: Exchange, origin: string) => {
    const { command, title, longName, about, standard, document } = exchange;
    const { mistakes, overTls, serverIs } = exchange;
    return {
      title,
      longName,
      about,
      standard,
      document,
      mistakes,
      serverIs,
      index: PLAYGROUND_LIST,
      path: pagePath(exchange),
      command: command?.(origin + spacePath(exchange), { ...means, ...commandsAt(origin) }),
      http2: overTls && HTTP2,
    };
  };
  const routesOf = (exchange: Exchange): readonly PageRoute[] => [
    [
      'GET',
      pagePath(exchange),
      ({ req, state: { origin } }) =>
        exchangePage(frameOf(req), {
          ...propsOf(exchange, origin),
          words: wordsIn([exchange.about]),
        }),
    ],
    [
      'POST',
      pagePath(exchange),
      async ({ req, state: { origin } }) => {
        const { form, visitor } = await receiveForm(req, { origin, recipient }, LONGEST_FORM);
        const choice = readChoice(form, exchange);
        const { mistake } = choice;
        const run = await perform(exchange, choice, visitor);
        const legs = shownLegs(exchange, run, mistake, urlOf(exchange));
        return exchangePage(frameOf(req), {
          ...propsOf(exchange, origin),
          words: wordsIn([exchange.about, ...legs.flatMap(textsOf)]),
          mistake,
          overHttp2: choice.http2,
          legs,
        });
      },
    ],
  ];
  return [
    [
      'GET',
      PLAYGROUND_LIST,
      ({ req }) => exchangesPage(frameOf(req), listed, { explain: EXPLAIN_PATH, missing }),
    ],
    [
      'GET',
      PLAYGROUND_LIST.slice(0, -1),
      () => ({ status: 308, fields: { Location: PLAYGROUND_LIST } }),
    ],
    ...explainRoutes({ recipient, charge, clock, frameOf, issuers }),
    ...exchanges.flatMap(routesOf),
  ];
}

function shownLegs(
  exchange: Exchange,
  legs: readonly Leg[],
  mistake: string | undefined,
  url: string,
): readonly ShownLeg[] {
  const all = checksOfLegs(exchange, legs, url);
  const notesOf = saidOnce(exchange);
  const shown = (octets: Buffer) => ({ ...shownText(octets), notes: notesOf(octets) });
  // The mistake is in the last leg, unless legs follow that only tidy up: they remove a document or revoke a token.
  const wrong = legs.findLastIndex(({ sent }) => !isTidying(readRecorded(sent)));
  return legs.map((leg, at) => {
    const { title, to, from, promised, remarks, sent, received } = leg;
    const messages = { sent: shown(sent), received: shown(received) };
    const words = at === wrong ? exchange.mistakes[mistake ?? ''] : undefined;
    const outcome = outcomeOf(leg, all[at]);
    const asks = words === undefined && GOING_ON.has(outcome?.kind);
    const checks = asks ? all[at]?.map(notYet) : all[at];
    return { title, to, from, promised, remarks, mistake: words, ...messages, checks, outcome };
  });
}

/** The texts of a page about a leg. */
const textsOf = ({ title, remarks, checks = [], sent, received }: ShownLeg): readonly string[] => [
  title,
  ...[...remarks, ...sent.notes, ...received.notes].map(({ text }) => text),
  ...checks.map(({ check }) => check),
];

const isTidying = ({ words: [method, target] }: RecordedMessage): boolean =>
  method === 'DELETE' || target === '/token/revocation';

/** Answers after which the client continues, or tries again later. */
const GOING_ON: ReadonlySet<unknown> = new Set(['asked', 'continued', 'pending', 'away']);

/** Before the server has told the client what it needs, a failed check is not a mistake. */
const notYet = (check: Check): Check =>
  check.result === 'wrong' ? { ...check, result: 'not yet' } : check;

/**
 * Returns for each leg the checks of its request by the server that received it, in order. Undefined: the exchange has
 * no list of checks for this server.
 */
const checksOfLegs = (
  { checks, checksBy }: Pick<Exchange, 'checks' | 'checksBy'>,
  legs: readonly Leg[],
  url: string,
): readonly (readonly Check[] | undefined)[] =>
  legs.map(({ to, promised, noted, sent, received }) => {
    const ofParty = to === undefined ? checks : checksBy?.[to];
    const messages = { asked: readRecorded(sent), answer: readRecorded(received) };
    return promised ? undefined : ofParty?.({ ...messages, noted, url });
  });

const OCTETS_IN_A_LINE = 32;
const LINE = new RegExp(`.{${2 * OCTETS_IN_A_LINE}}(?!$)`, 'g');

/**
 * Returns a recorded message for people: with LF instead of CR LF, and without empty lines at the end. Content that is
 * not text is shown as hexadecimal octets. For a page of the authorization server only the length is shown.
 */
function shownText(octets: Buffer): {
  readonly text: string;
  readonly hexadecimal: boolean;
} {
  const { content, fields } = partsOf(octets);
  const head = octets.subarray(0, octets.length - content.length).toString('latin1');
  const isPage = fields.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/html'),
  );
  if (isPage) {
    const text = `${head}(${content.length} octets of HTML, which the browser shows as a page)`;
    return { text: text.replaceAll('\r\n', '\n'), hexadecimal: false };
  }
  const hexadecimal = !isText(content);
  const text = hexadecimal ? inHexadecimal(content) : content.toString();
  return { text: (head + text).replaceAll('\r\n', '\n').trimEnd(), hexadecimal };
}

/** True for UTF-8 whose only control characters are tabs and line ends. */
const isText = (content: Buffer) => isUtf8(content) && !/[^\P{Cc}\t\r\n]/u.test(content.toString());

const inHexadecimal = (content: Buffer) => content.toString('hex').replaceAll(LINE, '$&\n');
