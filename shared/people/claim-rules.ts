import { said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';
import { usernameCaseMapped } from './names/precis.ts';
import { isAttributeName, isAttributeValue, isGroup } from './profile-schema.ts';
import { claimMistake } from './reserved-claims.ts';

/** The members of a person that a rule can tell. */
const MEMBERS = ['email', 'name', 'username', 'groups'] as const;

/** The value of the claim: a text or truth value, the same for everybody, or a fact about the person. */
type Value =
  | { readonly text: string | boolean }
  | { readonly member: (typeof MEMBERS)[number] }
  | { readonly attribute: string };

/** The people for whom a rule is. */
type Condition =
  | { readonly group: string }
  | { readonly person: string }
  | { readonly attribute: string; readonly is: string };

/** A rule of a client: what one claim of its tokens says, and for which people. */
export interface ClaimRule {
  readonly claim: string;
  readonly value: Value;
  /** Absent: the rule is for everybody. */
  readonly condition?: Condition;
}

/** A word of a rule. Between quotation marks every text means itself. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The most UTF-16 code units of a rule. */
const LONGEST = 1024;

/** The most octets of a text. */
const TEXT_OCTETS = 256;

const CLAIM = /([^\s="]+)=/y;
const WORD =
  /(?:"(?<quoted>(?:[^"\\\p{C}\p{Zl}\p{Zp}]|\\["\\])*)"|(?<bare>[\p{L}\p{M}\p{N}._:/@+&,=%#~!?-]+))(?: +|$)/uy;

/** A mistake in a rule. */
class RuleMistake extends Error {
  readonly words: Words;
  constructor(words: Words) {
    super(words.message);
    this.words = words;
  }
}

const wrong = (words: Words): never => {
  throw new RuleMistake(words);
};

/**
 * Reads a rule: `CLAIM=VALUE`, or `CLAIM=VALUE if CONDITION`.
 *
 * - VALUE: `email`, `name`, `username` (or `preferred_username`), `groups` or `attribute NAME` of the person; `true` or
 *   `false`; any other word is a text.
 * - CONDITION: `group NAME`, `person NAME`, or `attribute NAME is TEXT`.
 * - A text between quotation marks is always a text. In it, `\"` and `\\` are a quotation mark and a backslash.
 *
 * Returns the words of a mistake if the text is no rule.
 */
export function parseRule(text: string): ClaimRule | Words {
  try {
    return ruleIn(text);
  } catch (error) {
    if (error instanceof RuleMistake) return error.words;
    throw error;
  }
}

export const isRule = (parsed: ClaimRule | Words): parsed is ClaimRule => 'claim' in parsed;

function ruleIn(text: string): ClaimRule {
  if (text.length > LONGEST) wrong(said('too-long', { most: LONGEST }));
  CLAIM.lastIndex = 0;
  const claim = CLAIM.exec(text)?.[1] ?? wrong(said('claim-form'));
  const mistake = claimMistake(claim);
  if (mistake !== undefined) wrong(mistake);
  const words = wordsIn(text.slice(claim.length + 1).normalize('NFC'));
  const value = valueIn(words);
  const condition = words.length > 0 ? conditionIn(words) : undefined;
  if (words.length > 0) wrong(said('claim-words', { word: words[0]?.text ?? '' }));
  return { claim, value, ...(condition && { condition }) };
}

/** Returns the words of a text, which the readers below take from the front. */
function wordsIn(text: string): Word[] {
  const words: Word[] = [];
  for (WORD.lastIndex = 0; WORD.lastIndex < text.length;) {
    const { quoted, bare = '' } = WORD.exec(text)?.groups ?? {};
    if (WORD.lastIndex === 0) wrong(said('claim-quotes'));
    words.push(
      quoted === undefined
        ? { text: bare, isQuoted: false }
        : { text: quoted.replaceAll(/\\(["\\])/g, '$1'), isQuoted: true },
    );
  }
  return words;
}

const take = (words: Word[]): Word => words.shift() ?? wrong(said('claim-form'));

function valueIn(words: Word[]): Value {
  const { text, isQuoted } = take(words);
  if (!isQuoted) {
    if (text === 'attribute') return { attribute: attributeIn(words) };
    if (text === 'true' || text === 'false') return { text: text === 'true' };
    const member = MEMBERS.find((known) => known === text);
    if (member !== undefined) return { member };
    if (text === 'preferred_username') return { member: 'username' };
    const near = [...MEMBERS, 'true', 'false', 'attribute'].find(
      (known) => known === text.toLowerCase(),
    );
    if (near !== undefined) wrong(said('claim-case', { text, near }));
  }
  if (Buffer.byteLength(text) > TEXT_OCTETS) wrong(said('claim-text', { most: TEXT_OCTETS }));
  return { text };
}

function conditionIn(words: Word[]): Condition {
  const start = take(words);
  if (start.isQuoted || start.text !== 'if') {
    wrong(said('claim-words', { word: start.text }));
  }
  const kind = take(words);
  if (kind.isQuoted) wrong(said('claim-form'));
  switch (kind.text) {
    case 'group': {
      const group = take(words).text;
      return isGroup(group) ? { group } : wrong(said('group-name'));
    }
    case 'person': {
      const person = usernameCaseMapped(take(words).text);
      return person === undefined ? wrong(said('person-name')) : { person };
    }
    case 'attribute': {
      const attribute = attributeIn(words);
      const { text, isQuoted } = take(words);
      if (isQuoted || text !== 'is') wrong(said('claim-form'));
      const is = take(words).text;
      if (!isAttributeValue(is)) wrong(said('attribute-value', { most: TEXT_OCTETS }));
      return { attribute, is };
    }
    default:
      return wrong(said('claim-condition', { word: kind.text }));
  }
}

function attributeIn(words: Word[]): string {
  const { text } = take(words);
  return isAttributeName(text) ? text : wrong(said('attribute-name'));
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

/** Writes a rule so that its texts are between quotation marks. */
export function formatRule({ claim, value, condition }: ClaimRule): string {
  const what =
    'text' in value
      ? typeof value.text === 'string'
        ? quoted(value.text)
        : String(value.text)
      : 'member' in value
        ? value.member
        : `attribute ${value.attribute}`;
  return `${claim}=${what}${condition ? ` if ${formatCondition(condition)}` : ''}`;
}

function formatCondition(condition: Condition): string {
  if ('group' in condition) return `group ${quoted(condition.group)}`;
  if ('person' in condition) return `person ${quoted(condition.person)}`;
  return `attribute ${condition.attribute} is ${quoted(condition.is)}`;
}
