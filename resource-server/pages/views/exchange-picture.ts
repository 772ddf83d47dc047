import { type Html, html } from '#shared/pages/html.ts';
import { broughtOn, isForwarded, linesOf, wordsOf } from './picture-words.ts';

/** A party beside the client and the server. */
export type PicturedParty = 'issuer' | 'proxy' | 'authorization';

/** A sender other than the client. */
export type PicturedSender = 'browser' | 'userAgent' | 'applicationServer';

/** The parties that have a lifeline in the diagram. */
type Life = 'client' | 'server' | 'application' | PicturedParty | PicturedSender;

/** A request and its answer, as texts. */
export interface PicturedLeg {
  /** The party that got the request. Absent: the server. */
  readonly to?: PicturedParty | undefined;
  /** Whether the server promised the request itself. */
  readonly promised?: boolean | undefined;
  /** The sender. Absent: the client. */
  readonly from?: PicturedSender | undefined;
  readonly sent: { readonly text: string };
  readonly received: { readonly text: string };
}

/** Units of the diagram, which are pixels on a narrow phone. */
const WIDTH = 360;
const LEFT = 22;
const RIGHT = 338;
/**
 * Positions of a line between others: beside the left line, in the middle, before a long name, and before a short name.
 */
const BESIDE = 106;
const CENTER = 180;
const BEFORE_LONG = 196;
const BETWEEN = 250;
const TOP = 34;
const LINE = 15;
/** Space between words and lifelines. */
const MARGIN = 16;
/** Average width of a character in a wide font. */
const CHARACTER = 6.4;

/** An arrow with its words. */
interface Message {
  readonly words: string;
  readonly from: Life;
  readonly to: Life;
  /** Dashed: the message is not recorded, but follows from a recorded one. */
  readonly dashed?: true;
}

const TELLS_PATH: ReadonlySet<PicturedLeg['to']> = new Set(['issuer', 'authorization']);

/** The arrows of one leg (a request and its response between two parties), and the arrows that the response causes. */
function messagesOf(
  { to: asked, from: sender, promised, sent, received }: PicturedLeg,
  leg: number,
): readonly Message[] {
  const to: Life = asked ?? 'server';
  const from: Life = sender ?? 'client';
  const withPath = TELLS_PATH.has(asked);
  const request = `${leg + 1}. ${wordsOf(sent.text, withPath)}`;
  const brought = sender === 'browser' ? broughtOn(received.text) : '';
  const forwarded: readonly Message[] = isForwarded(received.text)
    ? [
        { words: '', from: 'server', to: 'application', dashed: true },
        { words: '', from: 'application', to: 'server', dashed: true },
      ]
    : [];
  return [
    promised ? { words: request, from: to, to: from } : { words: request, from, to },
    ...forwarded,
    { words: wordsOf(received.text, withPath), from: to, to: from },
    ...(brought === ''
      ? []
      : [{ words: brought, from: 'browser', to: 'client', dashed: true } as const]),
  ];
}

/** The lifelines from left to right, with their positions. */
function placesOf(messages: readonly Message[]): ReadonlyMap<Life, number> {
  const there = new Set(messages.flatMap(({ from, to }) => [from, to]));
  const beforeAnother = there.has('issuer') || there.has('application') ? BETWEEN : RIGHT;
  const beforeServer = there.has('applicationServer') ? CENTER : beforeAnother;
  const places: readonly (readonly [Life, number])[] = [
    ['client', LEFT],
    ['userAgent', LEFT],
    ['browser', there.has('client') ? BESIDE : LEFT],
    ['proxy', BETWEEN],
    ['server', there.has('authorization') ? BEFORE_LONG : beforeServer],
    ['application', RIGHT],
    ['issuer', RIGHT],
    ['authorization', RIGHT],
    ['applicationServer', RIGHT],
  ];
  return new Map(places.filter(([life]) => there.has(life)));
}

/** A sequence diagram, drawn from the messages themselves (UML 2.5.1 section 17.8). */
export function exchangePicture(
  legs: readonly PicturedLeg[],
  { label, dashed, ...names }: Readonly<Record<Life | 'label' | 'dashed', string>>,
): Html {
  const messages = legs.flatMap(messagesOf);
  const places = placesOf(messages);
  let bottom = TOP;
  const arrows = messages.map((message) => {
    const [from = LEFT, to = RIGHT] = [places.get(message.from), places.get(message.to)];
    const lines = linesOf(message.words, (Math.abs(to - from) - MARGIN) / CHARACTER);
    const y = bottom;
    bottom += lines.length * LINE + 15;
    return arrow({ lines, from, to, dashed: message.dashed ?? false }, y);
  });
  return html`<svg
      class="picture"
      viewBox="0 0 ${WIDTH} ${bottom + 8}"
      role="img"
      aria-label="${label}"
      font-size="12"
      fill="currentcolor"
      stroke-width="1.5"
    >
      ${[...places].map(([life, x]) => nameAt(x, names[life]))}
      <path
        d="${[...places.values()].map((x) => `M${x} 22V${bottom}`).join('')}"
        stroke="currentcolor"
        stroke-dasharray="2 4"
      />
      ${arrows}
    </svg>
    ${messages.some((message) => message.dashed) && html`<p class="muted small">${dashed}</p>`}`;
}

/** At the edges, names are aligned to grow inwards. */
const EDGES: ReadonlyMap<number, readonly [number, string]> = new Map([
  [LEFT, [LEFT - 12, 'start']],
  [RIGHT, [RIGHT + 12, 'end']],
]);

function nameAt(x: number, name: string): Html {
  const [at, anchor] = EDGES.get(x) ?? [x, 'middle'];
  return html`<text x="${at}" y="14" text-anchor="${anchor}">${name}</text>`;
}

interface Arrow {
  readonly lines: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly dashed: boolean;
}

function arrow({ lines, from, to, dashed }: Arrow, y: number): Html {
  const tip = to < from ? 7 : -7;
  const line = y + lines.length * LINE + 5;
  const middle = (from + to) / 2;
  // The words cover the lifeline that they cross.
  return html`<text
      class="words"
      y="${y}"
      text-anchor="middle"
      stroke="var(--canvas)"
      stroke-width="5"
      paint-order="stroke"
      >${lines.map((text) => html`<tspan x="${middle}" dy="${LINE}">${text}</tspan> `)}</text
    >
    <path
      d="M${from} ${line}H${to}"
      fill="none"
      stroke="currentcolor"
      stroke-dasharray="${dashed ? '6 4' : 'none'}"
    />
    <path
      d="M${to + tip} ${line - 4}L${to} ${line}L${to + tip} ${line + 4}"
      fill="none"
      stroke="currentcolor"
    />`;
}
