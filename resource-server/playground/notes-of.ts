import { type Challenge, parseChallenges } from '#shared/http/auth/challenge.ts';
import type { ShownNote } from '../pages/views/playground.ts';
import type { Exchange } from './exchange.ts';
import { own } from '#shared/explain/own.ts';
import { WITHOUT_NAME } from '#shared/explain/schemes/parameters.ts';
import { contentOf, type MessageParts, partsOf } from './http1-message.ts';
import { noteOn } from './notes.ts';

/** Parsers of fields whose values have parameters of a scheme, by field name in lower case (RFC 9110 section 11.6). */
const WITH_PARAMETERS: Readonly<
  Record<string, (value: string, scheme: string) => Challenge[] | undefined>
> = {
  'www-authenticate': parseChallenges,
  // Credentials have the grammar of a challenge (RFC 9110 section 11.4).
  authorization: parseChallenges,
  'proxy-authenticate': parseChallenges,
  'proxy-authorization': parseChallenges,
  'authentication-info': (value, scheme) => parseChallenges(`${scheme} ${value}`),
};

/**
 * Returns the notes on each message of an exchange, in order. A note appears at its first use, and again only with
 * another decoded value.
 */
export function saidOnce(
  exchange: Pick<Exchange, 'space' | 'parameters' | 'contents' | 'decoded'>,
): (octets: Buffer) => readonly ShownNote[] {
  const [scheme = ''] = exchange.space.schemes;
  const said = new Set<string>();
  return (octets) =>
    notesOf(octets, scheme, exchange).flatMap((note) => {
      const { name, text, decoded } = note;
      const [isNew, hasNewValue] = [text, decoded].map((words) => {
        const isSaid = words === undefined || said.has(`${name} ${words}`);
        said.add(`${name} ${words}`);
        return !isSaid;
      });
      return isNew || hasNewValue ? [{ ...note, isNew: isNew === true }] : [];
    });
}

/** Returns notes on the fields of a message, each followed by the notes on its parameters. */
function notesOf(
  octets: Buffer,
  scheme: string,
  {
    parameters = {},
    contents = {},
    decoded,
  }: Pick<Exchange, 'parameters' | 'contents' | 'decoded'>,
): readonly Omit<ShownNote, 'isNew'>[] {
  const notes: Omit<ShownNote, 'isNew'>[] = [];
  const message = partsOf(octets);
  for (const [name, value] of message.fields) {
    const field = noteOn(name, message.first);
    if (field) notes.push({ name, ...field, decoded: decoded?.(name.toLowerCase(), value) });
    const [read] = WITH_PARAMETERS[name.toLowerCase()]?.(value, scheme) ?? [];
    const { token68, params = {} } = read ?? {};
    const within = token68 === undefined ? Object.entries(params) : [['token68', token68] as const];
    for (const [parameter, text] of within) {
      const note = Object.hasOwn(parameters, parameter) ? parameters[parameter] : undefined;
      if (note === undefined) continue;
      const shown = parameter === 'token68' ? WITHOUT_NAME : parameter;
      notes.push({ name: shown, ...note, decoded: decoded?.(parameter, text) });
    }
  }
  for (const [name, value] of [...queryOf(message), ...membersOf(message)]) {
    const note = own(contents, name);
    if (note) notes.push({ name, ...note, decoded: decoded?.(name, value) });
  }
  return notes;
}

/** The members of a query: of Location if the message has one, else of the request target (RFC 6749 appendix B). */
function queryOf({ first, fields }: MessageParts): Iterable<readonly [string, string]> {
  const [, target = ''] = first.split(' ');
  const [, location] = fields.find(([name]) => name.toLowerCase() === 'location') ?? [];
  const [, query = ''] = /\?(.*)/.exec(location ?? target) ?? [];
  return new URLSearchParams(query);
}

/** Readers of the members of a content, by its media type. */
const READERS: Readonly<Record<string, (content: string) => Iterable<readonly [string, string]>>> =
  {
    'application/x-www-form-urlencoded': (content) => new URLSearchParams(content),
    'application/json': membersOfObject,
    'application/webpush-options+json': membersOfObject,
    // The single event contains a JSON object.
    'text/event-stream': membersOfObject,
  };

function membersOfObject(content: string): readonly (readonly [string, string])[] {
  const [json = ''] = /\{.*\}/s.exec(content) ?? [];
  return Object.entries(JSON.parse(json) as object).map(([name, value]) => [name, `${value}`]);
}

/** The members of a form, or of an object in JSON (RFC 6749 appendix B and section 5.1). */
function membersOf(parts: MessageParts): Iterable<readonly [string, string]> {
  const [, type = ''] = parts.fields.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const read = own(READERS, type.split(';')[0]?.trim().toLowerCase() ?? '');
  try {
    return read?.(contentOf(parts).toString()) ?? [];
  } catch {
    return [];
  }
}
