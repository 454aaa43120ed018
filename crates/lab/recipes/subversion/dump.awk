# Writes a Subversion dump: revision 1 has so many files, in folders; revision 2 changes them all.
#
# awk -v files=COUNT -v each=FILES_OF_A_FOLDER -f dump.awk. The same counts give the same bytes. Texts are of 200 to 4,000 bytes.

function property(name, text) {
    return "K " length(name) "\n" name "\nV " length(text) "\n" text "\n"
}

function revision(number, properties) {
    properties = property("svn:date", "2020-01-0" number "T00:00:00.000000Z") property("svn:log", "revision " number) "PROPS-END\n"
    printf "Revision-number: %d\nProp-content-length: %d\nContent-length: %d\n\n%s\n", number, length(properties), length(properties), properties
}

# A text that follows from its number alone; lines of 40 bytes.
function content(number, edition, lines, text, line) {
    lines = 5 + (number * 7919) % 96
    text = ""
    for (line = 0; line < lines; line++) {
        text = text sprintf("%08d %08d %02d abcdefghijklmnopqrs\n", (number * 104729 + line * 7) % 99999989, line, edition)
    }
    return text
}

function file(number, action, edition, text) {
    text = content(number, edition)
    printf "Node-path: trunk/%04d/%06d.txt\nNode-kind: file\nNode-action: %s\n", int(number / each), number, action
    printf "Text-content-length: %d\nContent-length: %d\n\n%s\n\n", length(text), length(text), text
}

function folder(path) {
    printf "Node-path: %s\nNode-kind: dir\nNode-action: add\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n\n", path
}

BEGIN {
    printf "SVN-fs-dump-format-version: 2\n\n"
    revision(1)
    folder("trunk")
    for (number = 0; number < files; number++) {
        if (number % each == 0) {
            folder(sprintf("trunk/%04d", int(number / each)))
        }
        file(number, "add", 1)
    }
    revision(2)
    for (number = 0; number < files; number++) {
        file(number, "change", 2)
    }
}
