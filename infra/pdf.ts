import { fileURLToPath } from 'node:url'

/** A part of a document, from the top down. */
export type PdfBlock =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [label: string, value: string])[] }

export type PdfContent = {
  readonly title: string
  /** The firm that gives it. */
  readonly author: string
  readonly created_at: string
  readonly blocks: readonly PdfBlock[]
}

// The standard fonts of PDF have no letters beyond Western Europe, and names do.
const fontFile = (name: string): string => fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))

/** No font has control characters: each would be printed as a box. A line break stays one. */
const printable = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n]/gu, ' ')

const printableBlock = (block: PdfBlock): PdfBlock =>
  block.kind === 'facts'
    ? { ...block, facts: block.facts.map(([label, value]) => [printable(label), printable(value)] as const) }
    : { ...block, text: printable(block.text) }

const labelWidth = 170
const margin = 56

/** Renders a document to be read on a screen and printed on A4. */
export const renderPdf = async ({ created_at, ...content }: PdfContent): Promise<Buffer> => {
  const title = printable(content.title)
  const author = printable(content.author)
  const created = new Date(created_at)
  // Loaded with the first document: most processes make none.
  const { default: PDFDocument } = await import('pdfkit')
  const pdf = new PDFDocument({
    size: 'A4',
    margin,
    lang: 'en-GB',
    displayTitle: true,
    info: { Title: title, Author: author, CreationDate: created, ModDate: created },
  })
  const chunks: Buffer[] = []
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
    pdf.on('end', () => resolve(Buffer.concat(chunks)))
    pdf.on('error', reject)
  })
  pdf.registerFont('plain', fontFile('DejaVuSans'))
  pdf.registerFont('bold', fontFile('DejaVuSans-Bold'))

  pdf.font('plain').fontSize(10).fillColor('#444444').text(author)
  pdf.moveDown(0.5).font('bold').fontSize(20).fillColor('#000000').text(title)
  pdf.moveDown(1)
  for (const block of content.blocks) draw(pdf, printableBlock(block))
  pdf.end()
  return done
}

const draw = (pdf: PDFKit.PDFDocument, block: PdfBlock): void => {
  switch (block.kind) {
    case 'heading':
      pdf.moveDown(0.5).font('bold').fontSize(13).text(block.text).moveDown(0.4)
      return
    case 'paragraph':
      pdf.font('plain').fontSize(10.5).text(block.text, { lineGap: 2 }).moveDown(0.6)
      return
    case 'facts':
      for (const [label, value] of block.facts) drawFact(pdf, label, value)
      pdf.moveDown(0.4)
  }
}

const drawFact = (pdf: PDFKit.PDFDocument, label: string, value: string): void => {
  const valueWidth = pdf.page.width - 2 * margin - labelWidth
  pdf.fontSize(10.5)
  const height = Math.max(
    pdf.font('plain').heightOfString(label, { width: labelWidth - 10 }),
    pdf.font('bold').heightOfString(value, { width: valueWidth }),
  )
  if (pdf.y + height > pdf.page.height - margin) pdf.addPage()
  const { y } = pdf
  pdf.font('plain').text(label, margin, y, { width: labelWidth - 10 })
  pdf.font('bold').text(value, margin + labelWidth, y, { width: valueWidth })
  pdf.x = margin
  pdf.y = y + height + 5
}
