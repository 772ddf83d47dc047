import { type Example, LENIENCIES, type Leniency, type Titled } from './leniency-data.ts';
import { code, GENERATED, table } from './markdown.ts';

/** The page of requests that are accepted although a standard allows a refusal. */
export function leniencyPage(): string {
  return [
    GENERATED,
    '# Leniency',
    '',
    'This page lists what the servers take although a standard lets them refuse it. It is for authors of clients, and for people who compare Countersign with a standard. The rule is: if a refusal protects no client, Countersign does as Apache, Keycloak or the usual library does. Everything else that is malformed is refused.',
    '',
    ...Object.entries(LENIENCIES).flatMap(section),
    'A test sends each request of the last column as the client sends it (`e2e/docs/leniency.test.ts`).',
    '',
  ].join('\n');
}

function section([title, leniencies]: readonly [string, readonly Leniency[]]): readonly string[] {
  const rows = leniencies.map(({ sends, section: standard, answer, others, clients, shown }) => [
    sends,
    standard,
    answer,
    others,
    clients,
    'to' in shown ? requestOf(shown) : testOf(shown),
  ]);
  const head = ['A client sends', 'The standard', 'Countersign', 'Others', 'Clients', 'Shown by'];
  return [`## ${title}`, '', ...table(head, rows), ''];
}

const requestOf = ({ lines: [first = ''], status }: Example) => `${code(first)}: ${status}`;
const testOf = ([file]: Titled) => code(file);
