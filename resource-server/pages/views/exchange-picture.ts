import { type Html, html } from '#shared/pages/html.ts';

/** A request and its answer, as texts. */
export interface PicturedLeg {
  readonly sent: { readonly text: string };
  readonly received: { readonly text: string };
}

/** Units of the picture: where the two lines of life are, and the room for a message. */
const LEFT = 20;
const RIGHT = 380;
const TOP = 46;
const STEP = 40;

/** The fields that are named beside a message, with the first word of their value. */
const NAMED = /^(Authorization|WWW-Authenticate|DPoP-Nonce|Authentication-Info|Allow): (\S+)/gm;
const WITH_SCHEME: ReadonlySet<string> = new Set(['Authorization', 'WWW-Authenticate']);

/** Returns the words for a message: the method or the status, and the fields that matter. */
function wordsOf(text: string): string {
  const [first = ''] = text.split('\n');
  const [head = ''] = text.split('\n\n');
  const [method = '', status = ''] = first.split(' ');
  const said = method.startsWith('HTTP/') ? status : method;
  const fields = [...head.matchAll(NAMED)].map(([, name = '', value = '']) =>
    WITH_SCHEME.has(name) ? `${name}: ${value}` : name,
  );
  return [said, ...fields].join(', ');
}

/** A sequence diagram, drawn from the messages themselves (UML 2.5.1 section 17.8). */
export function exchangePicture(
  legs: readonly PicturedLeg[],
  { client, server, label }: Readonly<Record<'client' | 'server' | 'label', string>>,
): Html {
  const messages = legs.flatMap(({ sent, received }) => [
    { words: wordsOf(sent.text), back: false },
    { words: wordsOf(received.text), back: true },
  ]);
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
    <text x="${RIGHT + 10}" y="16" text-anchor="end">${server}</text>
    <path
      d="M${LEFT} 26V${bottom}M${RIGHT} 26V${bottom}"
      stroke="currentcolor"
      stroke-dasharray="3 3"
    />
    ${messages.map(({ words, back }, at) => arrow(words, back, TOP + STEP * at))}
  </svg>`;
}

function arrow(words: string, back: boolean, y: number): Html {
  const [from, to, tip] = back ? [RIGHT, LEFT, 7] : [LEFT, RIGHT, -7];
  const line = y + 10;
  return html`<text x="200" y="${y + 4}" text-anchor="middle">${words}</text>
    <path
      d="M${from} ${line}H${to}M${to + tip} ${line - 4}L${to} ${line}L${to + tip} ${line + 4}"
      fill="none"
      stroke="currentcolor"
    />`;
}
