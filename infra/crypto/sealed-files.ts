import { createHash } from 'node:crypto'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'
import { CannotUnseal, decrypt, encrypt } from './aead.ts'
import type { DataKeys } from './data-keys.ts'
import { bindingBytes } from './seal.ts'
import { subjectOfStream } from './subjects.ts'

type Kept = { readonly sha256: string; readonly bytes: number }

export type SealedFile = {
  readonly organisation_id: string
  readonly id: string
  /** The person whom it is about. */
  readonly person: string
  /** The stream of the record that it belongs to. */
  readonly stream: string
  readonly media_type: string
  readonly content: Buffer
}

/** Files about persons, encrypted under the keys of their records. */
export type SealedFiles = {
  /** Keeps a file; when one with this id was kept before, that one stays, and its hash is returned. */
  readonly keep: (file: SealedFile) => Promise<Kept>
  /** Undefined when there is none, or when its person or record was erased. */
  readonly open: (
    organisation_id: string,
    id: string,
  ) => Promise<{ readonly media_type: string; readonly content: Buffer } | undefined>
}

type Deps = { readonly pool: Database; readonly dataKeys: Pick<DataKeys, 'of' | 'byId'> }

const bindingOf = (organisation_id: string, id: string): Buffer => bindingBytes([organisation_id, 'file', id])

export const makeSealedFiles = ({ pool, dataKeys }: Deps): SealedFiles => ({
  keep: async ({ organisation_id, id, person, stream, media_type, content }) => {
    const sha256 = createHash('sha256').update(content).digest('hex')
    const { id: key_id, key } = await dataKeys.of({ organisation_id, subject: subjectOfStream(stream, person) })
    const sealed = encrypt(key, content, bindingOf(organisation_id, id))
    const { rows: added } = await pool.query<Kept>(sql`
      insert into sealed_file (organisation_id, id, key_id, media_type, sha256, bytes, sealed)
      values (${organisation_id}, ${id}, ${key_id}, ${media_type}, ${sha256}, ${content.length}, ${sealed})
      on conflict do nothing returning sha256, bytes`)
    if (added[0]) return added[0]
    const { rows } = await pool.query<Kept>(
      sql`select sha256, bytes from sealed_file where organisation_id = ${organisation_id} and id = ${id}`,
    )
    if (!rows[0]) throw new Error(`The file ${id} was kept and does not exist.`)
    return rows[0]
  },

  open: async (organisation_id, id) => {
    const { rows } = await pool.query<{ key_id: string; media_type: string; sealed: Buffer }>({
      name: 'sealed-file',
      ...sql`
        select key_id, media_type, sealed from sealed_file
        where organisation_id = ${organisation_id} and id = ${id}`,
    })
    const [file] = rows
    if (!file) return undefined
    const key = (await dataKeys.byId(new Set([file.key_id]))).get(file.key_id)
    if (key instanceof CannotUnseal) throw key
    if (key === undefined || key === 'erased') return undefined
    return { media_type: file.media_type, content: decrypt(key, file.sealed, bindingOf(organisation_id, id)) }
  },
})
