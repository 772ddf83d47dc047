/** Says of a store from before version 1 that nothing brings it along. `another`: what a new one has in place of this one's. */
export const madeBefore = (store: string, another: string): string =>
  `${store} was made by a build of before version 1. Write its people to a file with that build (\`directory export\`), write 1 in place of 6 as its countersign_directory, start this one with another ${another}, and read them there (\`directory import\`); clients, documents, sign-ins and the audit log stay behind`;
