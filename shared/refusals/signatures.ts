import { type Refuse, refuser, type Row } from './refusal.ts';

/** Refusals of HTTP message signatures (RFC 9421), and of the keys and proofs of GNAP clients (RFC 9635). */
export const SIGNATURES = {
  // The fields: RFC 9421 section 4.
  'signature-field': { text: '{field} is malformed, or has a label twice', label: 'malformed' },
  'signature-labels': {
    text: 'signature-input and signature have different labels',
    label: 'malformed',
  },
  'signature-many': { text: 'the message has more than {most} signatures', label: 'malformed' },
  'signature-no-list': { text: 'signature-input {label} is no list', label: 'malformed' },
  'signature-no-octets': { text: 'signature has no octets for {label}', label: 'malformed' },
  'signature-many-components': {
    text: '{label} covers more than {most} components',
    label: 'malformed',
  },
  'signature-no-string': {
    text: '{label} covers something that is no string',
    label: 'malformed',
  },

  // Components: section 2.
  'component-twice': { text: '{component} is covered twice', label: 'malformed' },
  'component-not-ascii': { text: 'the value of {component} is not ASCII text', label: 'malformed' },
  'component-req-of-request': { text: 'a request has a component with req', label: 'malformed' },
  'component-no-request': { text: 'the request of the answer is unknown', label: 'malformed' },
  'component-flag': { text: 'the parameter {param} has a value', label: 'malformed' },
  'component-not-of-answer': { text: 'an answer has no {name}', label: 'malformed' },
  'component-not-of-request': { text: 'a request has no {name}', label: 'malformed' },
  'component-long-query': {
    text: 'the query has more than 1,024 parameters',
    label: 'malformed',
  },
  'component-query-param': {
    text: 'the query has the parameter {name} {count}',
    label: 'malformed',
  },
  'component-case': { text: 'the name {name} is not in lower case', label: 'malformed' },
  'component-bs': { text: '{name} has bs beside sf or key', label: 'malformed' },
  'component-absent': { text: 'the message has no {name}', label: 'malformed' },
  'component-no-dictionary': { text: '{name} is no dictionary that we know', label: 'malformed' },
  'component-no-member': { text: 'the dictionary has no member {key}', label: 'malformed' },
  'component-param': { text: '{name} has the parameter {param}', label: 'malformed' },
  'component-param-type': { text: 'the parameter {param} is no string', label: 'malformed' },

  // The requirements of an application: section 3.2.1.
  'signature-none': { text: 'the message has no signature with tag {tag}', label: 'proof' },
  'signature-two': { text: 'the message has two signatures with tag {tag}', label: 'malformed' },
  'signature-tag': { text: 'its tag is not {tag}', label: 'proof' },
  'signature-param-type': { text: 'the parameter {param} is no {type}', label: 'malformed' },
  'signature-param-missing': { text: 'the parameter {param} is missing', label: 'proof' },
  'signature-param-refused': { text: 'the parameter {param} is not allowed', label: 'proof' },
  'signature-uncovered': { text: '{component} is not covered', label: 'proof' },
  'signature-created': {
    text: 'created differs from the time here by more than {window} s',
    label: 'expired',
  },
  'signature-expired': { text: 'the signature has expired', label: 'expired' },

  // The key and the signature: section 3.2.
  'signature-alg': { text: 'the key is not for {alg}', label: 'proof' },
  'signature-key': { text: 'the key does not fit its algorithm', label: 'proof' },
  'signature-wrong': { text: 'the signature is not of this message and key', label: 'proof' },
  'signature-keyid': { text: 'keyid is not the kid of the key', label: 'proof' },
  'signature-used': { text: 'the signature or its nonce was used before', label: 'replayed' },

  // RFC 9530.
  'content-digest-form': {
    text: 'content-digest is malformed or has an algorithm twice',
    label: 'malformed',
  },
  'content-digest-none': { text: 'content-digest has no {algorithm}', label: 'proof' },
  'content-digest-wrong': { text: 'content-digest is of another content', label: 'proof' },
  'content-digest-missing': { text: 'content-digest is missing', label: 'proof' },
  'content-unseen': {
    text: 'the content is not seen here, so its digest cannot be checked',
    label: 'proof',
  },

  // RFC 9635 sections 7.1 and 7.3.2.
  'certificate-none': { text: 'no trusted proxy has sent one Client-Cert', label: 'proof' },
  'certificate-other': { text: 'Client-Cert is another certificate', label: 'proof' },
} as const satisfies Record<string, Row>;

export const refuse: Refuse<typeof SIGNATURES> = refuser(SIGNATURES);
