/** `shared/base/turn.ts`, where each request looks for itself, and its answer goes out at once. */
import type * as short from '#shared/base/turn.ts';

export const atTurnsEnd: typeof short.atTurnsEnd = (work) => void setImmediate(work);

export const oncePerTurn: typeof short.oncePerTurn = (look) => look;

export const sendTogether: typeof short.sendTogether = (send) => send();

// Each export of the short way has its long one.
({ atTurnsEnd, oncePerTurn, sendTogether }) satisfies typeof short;
