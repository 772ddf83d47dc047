import type { IncomingHttpHeaders } from 'node:http';
import type { Random } from '#shared/base/random.ts';

/** The trace that a request is part of (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly flags: number;
  /** The list in `tracestate` as received, if it is well-formed. */
  readonly state: string | undefined;
}

/**
 * Matches a traceparent (section 3.2.2): version, trace-id, parent-id and trace-flags in lower case; later versions
 * may have more members.
 */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The version 00 of traceparent, which has exactly four members. */
const VERSION = '00';
const INVALID_VERSION = 'ff';
const ZEROS = /^0+$/;
/**
 * The flags that are passed on: sampled (section 3.2.2.5), and that the trace-id is random (level 2). All other flags
 * have no meaning and are sent as 0.
 */
const FLAGS = 0b11;

/**
 * Matches a member of tracestate (section 3.3.1): a key, and a value of visible characters without comma and equals
 * sign.
 */
const MEMBER =
  /^(?:[a-z][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const MEMBERS = 32;

/**
 * Reads the trace of a request; undefined if it has none or a malformed one, since section 4.3 then ignores both
 * fields. node:http joins several lines of a field: a joined `traceparent` is malformed, and a joined `tracestate` is
 * one list.
 */
export function readTraceContext(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] =
    TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === INVALID_VERSION) return undefined;
  if (version === VERSION && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(parentId)) return undefined;
  const state = [tracestate ?? []].flat().join(',');
  return {
    traceId,
    flags: Number.parseInt(flags, 16) & FLAGS,
    state: state !== '' && isTraceState(state) ? state : undefined,
  };
}

/** True if the list is well-formed (section 3.3.1): empty members are allowed, a repeated key is not. */
function isTraceState(state: string): boolean {
  const members = state
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return (
    members.length > 0 &&
    members.length <= MEMBERS &&
    keys.size === members.length &&
    members.every((member) => MEMBER.test(member))
  );
}

/**
 * Returns the fields by which the trace is passed to the next server (section 4.2), with a parent-id of this server.
 */
export function traceLines(
  { traceId, flags, state }: TraceContext,
  random: Random,
): [name: string, value: string][] {
  const parent = random(8).toString('hex');
  const told = flags.toString(16).padStart(2, '0');
  return [
    ['traceparent', `${VERSION}-${traceId}-${parent}-${told}`],
    ...(state === undefined ? [] : [['tracestate', state] satisfies [string, string]]),
  ];
}
