/** Replaces `shared/base/turn.ts`: each request does its own look-ups, and each answer is sent at once. */
import type * as short from '#shared/base/turn.ts';

export const atTurnsEnd: typeof short.atTurnsEnd = (work) => void setImmediate(work);

export const oncePerTurn: typeof short.oncePerTurn = (look) => look;

export const sendTogether: typeof short.sendTogether = (send) => send();

// This module exports all that the replaced module exports.
({ atTurnsEnd, oncePerTurn, sendTogether }) satisfies typeof short;
