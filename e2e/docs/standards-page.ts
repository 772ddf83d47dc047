import { GENERATED, table } from './markdown.ts';
import { type Standard, STANDARDS } from './standards-data.ts';

/** The page of standards. */
export function standardsPage(): string {
  const everything = Object.values(STANDARDS).flat();
  const missing = everything.flatMap(({ id, missing: sections = [] }) =>
    sections.map(([number, what, why]) => [linked(id), number, what, why]),
  );
  return [
    GENERATED,
    '# Standards',
    '',
    'This page says which standards the servers follow, and which parts are missing. It is for people who decide whether Countersign fits, and for authors of clients.',
    '',
    ...table(
      ['Status', 'Meaning'],
      [
        ['implemented', 'everything that concerns a server like this'],
        ['partly', 'everything but the parts [below](#missing-parts)'],
        ['parts used', 'only what the third column names'],
        ['not implemented', 'nothing'],
      ],
    ),
    '',
    ...Object.entries(STANDARDS).flatMap(section),
    '## Missing parts',
    '',
    ...table(['Standard', 'Section', 'What', 'Why'], missing),
    '',
    'LDAP, SCIM and SAML are not there yet.',
    '',
    'Each challenge of an answer names a different scheme. Several Digest algorithms or several types of PrivateToken are the exception, as RFC 7616 section 3.7 and RFC 9577 section 2.1.2 allow.',
    '',
  ].join('\n');
}

function section([title, standards]: readonly [string, readonly Standard[]]): readonly string[] {
  const rows = standards.map(({ id, title: name, status, used = '' }) => [
    linked(id),
    name,
    status,
    used,
  ]);
  return [`## ${title}`, '', ...table(['Standard', 'Title', 'Status', 'Parts'], rows), ''];
}

function linked(id: string): string {
  const [, number] = /^RFC (\d+)$/.exec(id) ?? [];
  return number === undefined ? id : `[${id}](https://www.rfc-editor.org/rfc/rfc${number})`;
}
