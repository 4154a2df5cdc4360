/**
 * An error that our own code throws on purpose. Its message may be shown and kept: it names things by their types and ids
 * and holds nothing personal. The message of any other error may repeat what a person has entered.
 */
export class OwnError extends Error {}
