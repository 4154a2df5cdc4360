import { registeredAs, registeredFonts, type Weight } from './fonts.ts'
import { printable, runsOf, wrap, type Run } from './lines.ts'

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

type Pdf = PDFKit.PDFDocument
type Style = { readonly weight: Weight; readonly size: number; readonly width: number; readonly lineGap?: number }

const labelWidth = 170
const margin = 56

/** Renders a document to be read on a screen and printed on A4. */
export const renderPdf = async ({ created_at, title, author, blocks }: PdfContent): Promise<Buffer> => {
  const created = new Date(created_at)
  // Loaded with the first document: most processes make none.
  const { default: PDFDocument } = await import('pdfkit')
  const pdf = new PDFDocument({
    size: 'A4',
    margin,
    lang: 'en-GB',
    displayTitle: true,
    info: { Title: printable(title), Author: printable(author), CreationDate: created, ModDate: created },
  })
  const chunks: Buffer[] = []
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
    pdf.on('end', () => resolve(Buffer.concat(chunks)))
    pdf.on('error', reject)
  })
  for (const [name, file] of registeredFonts) pdf.registerFont(name, file)

  const width = pdf.page.width - 2 * margin
  pdf.fillColor('#444444')
  print(pdf, author, { weight: 'plain', size: 10, width })
  pdf.fillColor('#000000').y += 5
  print(pdf, title, { weight: 'bold', size: 20, width })
  pdf.y += 20
  for (const block of blocks) draw(pdf, block, width)
  pdf.end()
  return done
}

const draw = (pdf: Pdf, block: PdfBlock, width: number): void => {
  switch (block.kind) {
    case 'heading':
      pdf.y += 6
      print(pdf, block.text, { weight: 'bold', size: 13, width })
      pdf.y += 6
      return
    case 'paragraph':
      print(pdf, block.text, { weight: 'plain', size: 10.5, width, lineGap: 2 })
      pdf.y += 8
      return
    case 'facts':
      for (const [label, value] of block.facts) drawFact(pdf, label, value, width)
      pdf.y += 5
  }
}

const drawFact = (pdf: Pdf, label: string, value: string, width: number): void => {
  const labels = linesOf(pdf, label, { weight: 'plain', size: 10.5, width: labelWidth - 10 })
  const values = linesOf(pdf, value, { weight: 'bold', size: 10.5, width: width - labelWidth })
  for (let index = 0; index < Math.max(labels.length, values.length); index++) {
    nextLine(pdf, { weight: 'plain', size: 10.5 })
    drawLine(pdf, labels[index] ?? '', margin, { weight: 'plain', size: 10.5 })
    drawLine(pdf, values[index] ?? '', margin + labelWidth, { weight: 'bold', size: 10.5 })
    pdf.y += lineHeight(pdf, 10.5)
  }
  pdf.y += 5
}

const print = (pdf: Pdf, text: string, style: Style): void => {
  for (const line of linesOf(pdf, text, style)) {
    nextLine(pdf, style)
    drawLine(pdf, line, margin, style)
    pdf.y += lineHeight(pdf, style.size) + (style.lineGap ?? 0)
  }
}

type Letters = Pick<Style, 'weight' | 'size'>

/** The space of a line is that of the usual font, whatever is printed in it. */
const lineHeight = (pdf: Pdf, size: number): number =>
  pdf.font(registeredAs('usual', 'plain')).fontSize(size).currentLineHeight()

const nextLine = (pdf: Pdf, { size }: Letters): void => {
  if (pdf.y + lineHeight(pdf, size) > pdf.page.height - margin) pdf.addPage()
}

// pdfkit draws a run word by word, from left to right, unless it is given features, if only an empty list.
const optionsOf = ({ isRightToLeft }: Run): PDFKit.Mixins.TextOptions => ({
  lineBreak: false,
  baseline: 'alphabetic',
  ...(isRightToLeft && { features: [] }),
})

const runWidth = (pdf: Pdf, run: Run, { weight, size }: Letters): number =>
  pdf.font(registeredAs(run.font, weight)).fontSize(size).widthOfString(run.text, optionsOf(run))

const linesOf = (pdf: Pdf, text: string, style: Style): readonly string[] =>
  wrap(printable(text), style.width, (part) =>
    runsOf(part).reduce((width, run) => width + runWidth(pdf, run, style), 0),
  )

const drawLine = (pdf: Pdf, line: string, left: number, style: Letters): void => {
  const top = pdf.y
  const baseline = top + 0.93 * style.size
  let x = left
  for (const run of runsOf(line)) {
    const width = runWidth(pdf, run, style)
    pdf.text(run.text, x, baseline, optionsOf(run))
    x += width
  }
  pdf.x = margin
  pdf.y = top
}
