import { type Condition, parseIf, type StateList } from '#shared/http/if-field.ts';
import { formatEntityTag } from '#shared/http/etag.ts';
import { checksOf, type Step } from './checks.ts';
import type { Explained, Part } from './explained.ts';

const STANDARD = 'RFC 4918 section 10.4';

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'Either all lists name a resource, or no list does.',
    section: `${STANDARD}.2`,
  },
  {
    name: 'state',
    check: 'All conditions of at least one list are true. Otherwise the answer is 412.',
    section: `${STANDARD}.3`,
  },
  {
    name: 'token',
    check:
      'The field has the lock token of each resource that the request changes. Otherwise the answer is 423.',
    section: 'RFC 4918 section 7.5',
  },
];

/** Explains an If field of WebDAV (RFC 4918 section 10.4). */
export function explainIf(value: string): Explained {
  const lists = parseIf(value);
  return {
    what: 'If field of WebDAV',
    standard: STANDARD,
    parts: (lists ?? []).map(partOf),
    checks: checksOf(
      STEPS,
      lists ? undefined : { reason: 'it is malformed, or has more than 256 conditions' },
      {
        state: 'Only the server knows the locks and entity tags.',
        token: 'Only the server knows the locks.',
      },
    ),
  };
}

function partOf(
  { resource = 'the target of the request', conditions }: StateList,
  at: number,
): Part {
  return {
    name: `list ${at + 1}`,
    value: conditions.map(conditionText).join(', and '),
    note: `The list is about ${resource}.`,
  };
}

function conditionText(condition: Condition): string {
  const has = condition.not ? 'is without' : 'has';
  return 'token' in condition
    ? `${has} the lock ${condition.token}`
    : `${has} the entity tag ${formatEntityTag(condition.etag)}`;
}
