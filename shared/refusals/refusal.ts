import { filled, type Given, type Values } from './words.ts';

/** The values of the label `reason` in metrics. */
export const LABELS = [
  'no-credentials',
  'cross-site',
  'other-scheme',
  'throttled',
  'revoked',
  'replayed',
  'expired',
  'audience',
  'issuer',
  'unknown-key',
  'not-allowed',
  'scope',
  'step-up',
  'clear-text',
  'proof',
  'wrong-credentials',
  'malformed',
  'continued',
  'unavailable',
  'other',
] as const;

export interface Row {
  /** The text for the log and for developers; `{name}` is replaced by a value. */
  readonly text: string;
  readonly label: (typeof LABELS)[number];
}

/** A reason for which a server refuses credentials. */
export interface Refusal {
  /** A code of the table, which programs compare. */
  readonly refusal: string;
  /** The reason in English, with its values. For the log, and in development for the client. */
  readonly reason: string;
}

type Part = Readonly<Record<string, Row>>;

/** Makes a refusal from its code, with the values that its text names. */
export type Refuse<Of extends Part> = <Code extends keyof Of & string>(
  code: Code,
  ...values: Given<Of[Code]['text']>
) => Refusal;

/** Creates the function that makes the refusals of one part of the table. */
export const refuser =
  <Of extends Part>(part: Of): Refuse<Of> =>
  (code, ...[values]) => {
    const given: Values = values ?? {};
    return { refusal: code, reason: filled(part[code]?.text ?? '', given) };
  };

/** Returns the same refusal for a part of a request: its reason names the part first. */
export const within = (part: string, { refusal, reason }: Refusal): Refusal => ({
  refusal,
  reason: `${part}: ${reason}`,
});
