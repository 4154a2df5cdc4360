import { z } from 'zod'
import { Given, type Checkout, type KeyDocument } from '#domain/checkout/events.ts'
import { Slug } from '#domain/values.ts'
import type { Whole } from '../setup-file/section.ts'
import type { DocumentFile } from './document-files.ts'
import type { IdOf } from './declared-journey.ts'

const Text = z.string().min(1)

/** A link, or a file beside the set-up file. A new link, file or version text is a new version of the document. */
const DeclaredDocument = z
  .strictObject({
    /** Tells documents of one kind apart. */
    key: Slug.optional(),
    kind: z.string().regex(/^[a-z]+(_[a-z]+)*$/, 'must be lower-case words joined by underscores'),
    name: Text,
    given: Given.default('before_bind'),
    url: z.url({ protocol: /^https?$/ }).optional(),
    file: Text.optional(),
    version: z.coerce.string().default(''),
    /** As they are exported, where they follow from nothing else that is: a version says the same for ever. */
    document_id: z.uuid().optional(),
    version_id: z.uuid().optional(),
  })
  .refine(({ url, file }) => (url === undefined) !== (file === undefined), 'name one of url and file')

/** The checkout of a product in a set-up file. */
export const DeclaredCheckout = z.strictObject({
  inline_bacs_mandate: z.boolean().default(false),
  direct_debit_first: z.boolean().default(true),
  stripe_test_mode: z.boolean().nullable().default(null),
  policy_number_prefix: z
    .string()
    .regex(/^[A-Z0-9]{1,10}$/, 'must be 1 to 10 capital letters and digits')
    .default('POL'),
  collection_days: z
    .array(z.int().min(1).max(28))
    .min(1)
    .default(Array.from({ length: 28 }, (_, index) => index + 1)),
  demands_and_needs: z
    .strictObject({ required: z.boolean().default(true), statement: Text.nullable().default(null) })
    .default({ required: false, statement: null }),
  key_documents: z.array(DeclaredDocument).default([]),
  cancellation: z
    .strictObject({ statement: Text, given: Given.default('before_bind') })
    .nullable()
    .default(null),
  confirmation: z
    .strictObject({ intro: Text, points: z.array(Text).default([]), question: Text })
    .nullable()
    .default(null),
})
type DeclaredCheckout = z.output<typeof DeclaredCheckout>

/** The file of a name, if it was sent along. */
export type FindFile = (name: string) => DocumentFile | undefined

export const checkoutOf = (
  { key_documents, collection_days, ...declared }: DeclaredCheckout,
  findFile: FindFile,
  idOf: IdOf,
): Checkout => ({
  ...declared,
  collection_days: [...new Set(collection_days)].toSorted((one, other) => one - other),
  key_documents: key_documents.map((declared): KeyDocument => {
    const { key, kind, name, given, url, file, version } = declared
    const found = file === undefined ? undefined : findFile(file)
    const content = found ? { sha256: found.sha256, media_type: found.media_type, bytes: found.content.length } : null
    const document = { kind, name, given, url: url ?? null, file: content }
    const derived = documentIdsOf(document, idOf, { key, version })
    const { document_id = derived.document_id, version_id = derived.version_id } = declared
    return { document_id, version_id, ...document }
  }),
})

type Content = Pick<KeyDocument, 'kind' | 'url' | 'file'>

/** The ids of a document, and of what it says, where the file gives none. */
const documentIdsOf = (
  { kind, url, file }: Content,
  idOf: IdOf,
  { key = kind, version = '' }: { readonly key?: string | undefined; readonly version?: string } = {},
) => ({
  document_id: idOf('key_document', key),
  version_id: idOf('key_document_version', key, url ?? file?.sha256 ?? '', version),
})

/** Undefined where the ids of a version are those of what stands in the file; else why they cannot be. */
export const otherContent = ({ url, file }: Content, before: Content | undefined): string | undefined =>
  before && (before.url !== url || before.file?.sha256 !== file?.sha256)
    ? 'is of what the document said before: leave it out for something new'
    : undefined

/** As a file declares it; `fileNameOf` puts its files beside that. */
export const writtenCheckout = (
  { key_documents, ...checkout }: Checkout,
  idOf: IdOf,
  fileNameOf: (sha256: string) => string,
): Whole<z.input<typeof DeclaredCheckout>> => ({
  ...checkout,
  key_documents: key_documents.map((document): Whole<z.input<typeof DeclaredDocument>> => {
    const { document_id, version_id, kind, name, given, url, file } = document
    const derived = documentIdsOf(document, idOf)
    return {
      key: undefined,
      kind,
      name,
      given,
      url: url ?? undefined,
      file: file ? fileNameOf(file.sha256) : undefined,
      version: undefined,
      document_id: document_id === derived.document_id ? undefined : document_id,
      version_id: version_id === derived.version_id ? undefined : version_id,
    }
  }),
})
