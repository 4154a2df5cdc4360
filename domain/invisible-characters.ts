/**
 * Characters that nobody sees, and that come along when a text is copied from a page: soft hyphen, zero-width space, word
 * joiner, byte order mark, and the marks of direction.
 */
const unseen = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g

/** Joiners: between the letters of a Persian or Hindi name they are part of how it is written, elsewhere they say nothing. */
const looseJoiner = /(?<![\p{L}\p{M}])[\u200C\u200D]+|[\u200C\u200D]+(?![\p{L}\p{M}])/gu
const joinerBesideAscii = /(?<=^|\p{ASCII})[\u200C\u200D]+|[\u200C\u200D]+(?=$|\p{ASCII})/gu

/** A text that a person reads, such as a name, without what nobody sees. */
export const withoutUnseen = (text: string): string => text.replaceAll(unseen, '').replaceAll(looseJoiner, '').trim()

/** A text by which somebody is found: an email address, a telephone number, the id of a person in another system. */
export const findableText = (text: string): string => withoutUnseen(text).replaceAll(joinerBesideAscii, '').trim()

/** Nothing of the text can be seen. Control characters are not nothing: they are refused. */
export const isUnseen = (text: string): boolean => !/[^\s\p{Cf}\p{DI}\u2800]/u.test(text)
