import { type Html, html } from '#shared/pages/html.ts';

/** A party beside the client and the server. */
export type PicturedParty = 'issuer' | 'proxy' | 'authorization';

/** A sender beside the client. */
export type PicturedSender = 'browser';

/** A request and its answer, as texts. */
export interface PicturedLeg {
  /** The party that was asked; absent: the server. */
  readonly to?: PicturedParty | undefined;
  /** The server has made the request as well. */
  readonly promised?: boolean | undefined;
  /** Absent: the client has sent it. */
  readonly from?: PicturedSender | undefined;
  readonly sent: { readonly text: string };
  readonly received: { readonly text: string };
}

/** Units of the picture: where the lines of life are, and the room for a message. */
const LEFT = 20;
const RIGHT = 380;
/** The line of a proxy before the server, or of the server before an issuer, whose name is short or long. */
const BETWEEN = 290;
const MIDDLE = 235;
/** The line of a browser beside the client. */
const BESIDE = 110;
const TOP = 46;
const STEP = 40;

/** The fields that are named beside a message, with the first word of their value. */
const NAMED =
  /^(Authorization|WWW-Authenticate|DPoP-Nonce|Authentication-Info|Proxy-Authorization|Proxy-Authenticate|Allow|Location): (\S+)/gim;
const WITH_SCHEME: ReadonlySet<string> = new Set([
  'authorization',
  'www-authenticate',
  'proxy-authorization',
  'proxy-authenticate',
]);

/** Returns the words for a message: the method or the status, and the fields that matter. Issuers are asked at several addresses. */
function wordsOf(text: string, to: PicturedLeg['to']): string {
  const [head = ''] = text.split('\n\n');
  const [method = '', next = ''] = head.startsWith(':') ? startOfList(head) : head.split(/[ \n]/);
  const [path = ''] = next.split('?');
  const request = to === undefined || to === 'proxy' ? method : `${method} ${path}`;
  const said = method.startsWith('HTTP/') ? next : request;
  const fields = Map.groupBy(head.matchAll(NAMED), ([, name = '']) => name);
  const named = [...fields].map(([name, lines]) =>
    WITH_SCHEME.has(name.toLowerCase())
      ? `${name}: ${lines.map(([, , value = '']) => value).join(', ')}`
      : name,
  );
  return [said, ...named].join(', ');
}

/** The first words that a message of HTTP/2 would have in HTTP/1.1, by its pseudo-fields (RFC 9113 section 8.3). */
function startOfList(head: string): readonly string[] {
  const of = (name: string) => new RegExp(`^:${name}: (\\S+)`, 'm').exec(head)?.[1] ?? '';
  return head.startsWith(':status') ? ['HTTP/2', of('status')] : [of('method'), of('path')];
}

/** A sequence diagram, drawn from the messages themselves (UML 2.5.1 section 17.8). */
export function exchangePicture(
  legs: readonly PicturedLeg[],
  {
    client,
    browser,
    server,
    label,
    ...names
  }: Readonly<Record<'client' | 'server' | 'label' | PicturedParty | PicturedSender, string>>,
): Html {
  const has = (party: PicturedLeg['to']) => legs.some(({ to }) => to === party);
  const beforeIssuer = has('issuer') ? BETWEEN : RIGHT;
  const at = {
    proxy: BETWEEN,
    server: has('authorization') ? MIDDLE : beforeIssuer,
    issuer: RIGHT,
    authorization: RIGHT,
  };
  const named = (party: PicturedParty) =>
    has(party) ? [{ x: at[party], name: names[party] }] : [];
  const parties = [
    ...(legs.some(({ from }) => from === 'browser') ? [{ x: BESIDE, name: browser }] : []),
    ...named('proxy'),
    { x: at.server, name: server },
    ...named('issuer'),
    ...named('authorization'),
  ];
  const messages = legs.flatMap(({ to, from, promised = false, sent, received }, leg) => {
    const lines = { left: from === undefined ? LEFT : BESIDE, right: at[to ?? 'server'] };
    return [
      { words: `${leg + 1}. ${wordsOf(sent.text, to)}`, back: promised, ...lines },
      { words: wordsOf(received.text, to), back: true, ...lines },
    ];
  });
  const bottom = TOP + STEP * messages.length;
  return html`<svg
    viewBox="0 0 400 ${bottom + 10}"
    role="img"
    aria-label="${label}"
    font-size="12"
    fill="currentcolor"
    stroke-width="1.5"
  >
    <text x="${LEFT - 10}" y="16">${client}</text>
    ${parties.map(({ x, name }) => html`<text x="${x + 10}" y="16" text-anchor="end">${name}</text>`)}
    <path
      d="${[LEFT, ...parties.map(({ x }) => x)].map((x) => `M${x} 26V${bottom}`).join('')}"
      stroke="currentcolor"
      stroke-dasharray="3 3"
    />
    ${messages.map((message, index) => arrow(message, TOP + STEP * index))}
  </svg>`;
}

interface Arrow {
  readonly words: string;
  readonly back: boolean;
  /** The lines of life of the one that asks, and of the party that is asked. */
  readonly left: number;
  readonly right: number;
}

function arrow({ words, back, left, right }: Arrow, y: number): Html {
  const [from, to, tip] = back ? [right, left, 7] : [left, right, -7];
  const line = y + 10;
  // The words cover the line of life that they cross.
  return html`<text
      x="${(left + right) / 2}"
      y="${y + 4}"
      text-anchor="middle"
      stroke="var(--canvas)"
      stroke-width="5"
      paint-order="stroke"
      >${words}</text
    >
    <path
      d="M${from} ${line}H${to}M${to + tip} ${line - 4}L${to} ${line}L${to + tip} ${line + 4}"
      fill="none"
      stroke="currentcolor"
    />`;
}
