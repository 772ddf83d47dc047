/** Whether this runs as it was written, from a clone; an installed package is compiled. */
const source = import.meta.url.endsWith('.ts');

/** How a person starts both servers. */
export const START = source ? 'npm start' : 'countersign start';

/** How a person calls the command line: before the words of a command. */
export const CLI = source ? 'npm run -s cli --' : 'countersign';

/** Where the documentation begins. */
export const DOCUMENTATION = source
  ? 'docs/README.md'
  : 'docs/README.md in the folder of the package countersign';
