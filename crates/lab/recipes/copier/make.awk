# Writes a tree of files of 1 to 20 KiB, in folders of 100. The same count gives the same bytes.
#
# awk -v files=COUNT -v folder=FOLDER -f make.awk

BEGIN {
    for (number = 0; number < files; number++) {
        place = sprintf("%s/%04d", folder, int(number / 100))
        if (number % 100 == 0 && system("mkdir -p '" place "'") != 0) {
            exit 1
        }
        file = sprintf("%s/%07d.txt", place, number)
        lines = 16 + (number * 7919) % 305
        for (line = 0; line < lines; line++) {
            printf "%08d %08d %08d %08d abcdefghijklmnopqrstuvwxyz\n", number, line, (number * 104729 + line * 7) % 99999989, (line * 15485863) % 99999971 > file
        }
        close(file)
    }
}
